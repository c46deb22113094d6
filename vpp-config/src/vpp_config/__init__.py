"""Typed configuration of FD.io VPP (26.06): observe, plan, apply, statistics, startup.conf.

It can be used alone, against any VPP, and does not depend on the appliance. The plugin linux_nl brings routes
into VPP's FIB by copying the kernel's; :mod:`vpp_config.fib` reads them. A faster feeder replaces that plugin
but nothing in this package: no object here is a route.
"""

from importlib.metadata import version

from vpp_config.acl_codec import shared_rule
from vpp_config.client import Request, VppClient
from vpp_config.errors import (
    ObjectMissing,
    PlanError,
    StateFormatError,
    StatsUnavailable,
    VppApiError,
    VppError,
    VppUnavailable,
)
from vpp_config.leftover import Leftover
from vpp_config.objects import (
    ALL_CODES,
    ANY,
    Acl,
    AclBinding,
    AclRule,
    Action,
    Address,
    AfPacket,
    Attachment,
    Dpdk,
    Ethernet,
    Family,
    Interface,
    InterfaceVrf,
    LcpPair,
    Loopback,
    Memif,
    MemifRings,
    MemifSocket,
    PuntPolicer,
    SubInterface,
    VirtioPci,
    VppObject,
    VrfTable,
)
from vpp_config.plan import plan
from vpp_config.session import DEFAULT_PREFIX, Session, apply, observe, undo
from vpp_config.startup_conf import DpdkDevice, StartupConf
from vpp_config.state import VppState
from vpp_config.step import Step

__version__ = version("vpp-config")

__all__ = [
    "ALL_CODES",
    "ANY",
    "DEFAULT_PREFIX",
    "Acl",
    "AclBinding",
    "AclRule",
    "Action",
    "Address",
    "AfPacket",
    "Attachment",
    "Dpdk",
    "DpdkDevice",
    "Ethernet",
    "Family",
    "Interface",
    "InterfaceVrf",
    "LcpPair",
    "Leftover",
    "Loopback",
    "Memif",
    "MemifRings",
    "MemifSocket",
    "ObjectMissing",
    "PlanError",
    "PuntPolicer",
    "Request",
    "Session",
    "StartupConf",
    "StateFormatError",
    "StatsUnavailable",
    "Step",
    "SubInterface",
    "VirtioPci",
    "VppApiError",
    "VppClient",
    "VppError",
    "VppObject",
    "VppState",
    "VppUnavailable",
    "VrfTable",
    "apply",
    "observe",
    "plan",
    "shared_rule",
    "undo",
]
