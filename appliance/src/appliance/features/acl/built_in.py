"""The lists that VPP has before those of the document, for each interface and direction. Pure.

VPP matches a later fragment by addresses and protocol alone, with the first rule that has both, whatever ICMP
types or ports that rule names. So neighbor discovery is let through only where it can be: to the router's own
addresses, and from them. In the other direction than that, anybody's later fragments of ICMPv6 would pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv6Interface, IPv6Network

import vpp_config as vpp
from appliance.config.interface_address import address_of
from appliance.features.acl.model import Acl

_BEGINNING = ".neighbour-discovery-"
"""Of their names; no list of a document begins so."""
_TYPES = (133, 137)
_ICMPV6 = 58
_ANYWHERE, _LINK_LOCAL = IPv6Network("::/0"), IPv6Network("fe80::/10")
_UNSPECIFIED = IPv6Network("::/128")
"""Source of duplicate address detection (RFC 4862)."""
_EXTENSIONS = (43, 44, 60)
"""Routing, fragment and destination options: a receiver looks for further headers behind them (RFC 8200)."""

_known: dict[str, tuple[Acl, bool]] = {}
"""The last list of each name, and whether it denies by a header."""
_MOST_KNOWN = 1024


def name_of(interface: str, way: str) -> str:
    """Of the list for packets that come ``in`` by an interface, or go ``out``."""
    return f"{_BEGINNING}{way}-{interface}"


def is_built_in(name: str) -> bool:
    """Whether a list is one of these."""
    return name.startswith(_BEGINNING)


def interface_of(name: str) -> str:
    """The interface of one of these."""
    return name.removeprefix(_BEGINNING).partition("-")[2]


def before_all(interface: str, way: str, addresses: Iterable[str], lists: Mapping[str, Acl]) -> vpp.Acl:
    """For an interface with these addresses and, in this direction, these lists of the document."""
    closed = any(_denies_by_header(name, acl) for name, acl in lists.items())
    return vpp.Acl(
        name_of(interface, way), (*(_later_headers() if closed else ()), *_discovery(way, addresses))
    )


def _denies_by_header(name: str, acl: Acl) -> bool:
    """Whether it denies something of IPv6 that only the headers behind the addresses say."""
    known = _known.get(name)
    if known is None or known[0] is not acl:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        denied = (rule for rule in acl.rules.values() if rule.action == "deny" and rule.protocol != "any")
        known = _known[name] = acl, any(rule.family == "ipv6" for rule in denied)
    return known[1]


def _later_headers() -> Iterator[vpp.AclRule]:
    """Later fragments that begin with a header of IPv6: only those match, for of a whole packet VPP takes the
    protocol behind such headers. Without them, a first fragment that ends before TCP's ports, which no rule
    with a protocol matches, is nothing.
    """
    return (vpp.AclRule("deny", _ANYWHERE, _ANYWHERE, protocol=number) for number in _EXTENSIONS)


def _discovery(way: str, addresses: Iterable[str]) -> Iterator[vpp.AclRule]:
    own = [IPv6Network(one.ip) for one in map(address_of, addresses) if isinstance(one, IPv6Interface)]
    for ours in (_LINK_LOCAL, *own) if way == "in" else (_LINK_LOCAL, _UNSPECIFIED, *own):
        source, destination = (_ANYWHERE, ours) if way == "in" else (ours, _ANYWHERE)
        yield vpp.AclRule("permit", source, destination, protocol=_ICMPV6, icmp_type=_TYPES)
