"""The routing protocols: each is a folder with model, rendering and syntax table, and an entry here.

Objects are announced in this order. They are withdrawn in it too, each protocol's from its last kind to its
first.
"""

from __future__ import annotations

from frr_config.protocols import (
    bfd,
    bgp,
    fpm,
    ospf,
    policy,
    static,
)
from frr_config.syntax import Protocol

PROTOCOLS: tuple[Protocol, ...] = (
    fpm.PROTOCOL,
    bfd.PROTOCOL,
    policy.PROTOCOL,
    static.PROTOCOL,
    bgp.PROTOCOL,
    ospf.PROTOCOL,
)
