"""The kernel's links, addresses, routes and namespaces: only the parts of pyroute2 that are used.

pyroute2's ``__init__`` imports every netlink family it knows, two databases and a file server: 6 MB of the
agent. Here the package is left empty, and each of its modules is imported by its own name.
"""

from __future__ import annotations

import importlib.util
import sys

if "pyroute2" not in sys.modules and (_spec := importlib.util.find_spec("pyroute2")) is not None:
    sys.modules["pyroute2"] = importlib.util.module_from_spec(_spec)

# After the package was left empty.
from pyroute2 import netns
from pyroute2.iproute import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

__all__ = ["IPRoute", "NetlinkError", "netns"]
