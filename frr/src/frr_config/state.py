"""Live state as JSON, as the daemons show it. Every string in it is untrusted: peers choose some of them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Literal, Protocol

from frr_config.json_stream import members
from frr_config.page import Page, page_of

Family = Literal["ipv4", "ipv6"]
Direction = Literal["received", "advertised"]
_ROUTE_MEMBERS = ("routes", "advertisedRoutes", "receivedRoutes")
_VRF = re.compile(r"[a-z][a-z0-9._-]{0,14}")
PROTOCOLS = ("kernel", "connected", "static", "bgp", "ospf", "local")


class Asking(Protocol):
    """Runs operational commands."""

    def show(self, daemon: str, command: str) -> str:
        """The output of a daemon."""

    def streamed(self, daemon: str, command: str) -> Iterator[str]:
        """The output of a daemon, in pieces."""


class State:
    """Questions to the daemons, about one VRF. Raises FrrUnavailable; ValueError for a bad argument."""

    def __init__(self, asking: Asking, vrf: str = "") -> None:
        if vrf and not _VRF.fullmatch(vrf):
            raise ValueError(f"{vrf!r} is not the name of a VRF")
        self._asking, self._vrf = asking, vrf

    def in_vrf(self, vrf: str) -> State:
        """The same questions about another VRF; empty means the default one."""
        return State(self._asking, vrf)

    @property
    def vrf_words(self) -> str:
        """The words that a command about this VRF has after its protocol; empty for the default VRF."""
        return f"vrf {self._vrf} " if self._vrf else ""

    def json(self, daemon: str, command: str) -> dict[str, Any]:
        """The answer to a ``show ... json`` without a method of its own; empty where nothing is printed."""
        return self._json(daemon, command)

    def json_list(self, daemon: str, command: str) -> list[dict[str, Any]]:
        """The same for a command that prints a list of objects."""
        shown = self._shown(daemon, command)
        return [entry for entry in shown if isinstance(entry, dict)] if isinstance(shown, list) else []

    def members(self, daemon: str, command: str, inside: Collection[str]) -> Iterator[tuple[str, Any]]:
        """The members of the objects named in ``inside``, as they arrive: see ``json_stream``."""
        return members(self._asking.streamed(daemon, command), inside)

    def interfaces(self) -> dict[str, Any]:
        """zebra's data of each interface: ``status`` and ``addresses``, the first address of each network."""
        return _dicts_only(self._json("zebra", "show interface brief json"))

    def interface_addresses(self, name: str) -> list[str] | None:
        """Every address that zebra has for an interface, link-local ones too; None where zebra has no such
        interface.

        Raises ValueError for an invalid interface name.
        """
        if not name or any(char.isspace() or not char.isprintable() for char in name) or len(name) > 15:
            raise ValueError(f"{name!r} is not the name of an interface")
        shown = _dicts_only(self._json("zebra", f"show interface {name} json")).get(name)
        if shown is None:
            return None
        listed = shown.get("ipAddresses", ())
        return [str(one["address"]) for one in listed if isinstance(one, dict) and "address" in one]

    def bgp_summary(self) -> dict[str, Any]:
        """By family (``ipv4Unicast``, ``ipv6Unicast``): the instance and its ``peers``. Empty without BGP."""
        return self._json("bgpd", f"show bgp {self.vrf_words}summary json")

    def bgp_failures(self) -> dict[str, Any]:
        """As ``bgp_summary``, only of the sessions that are down, with the reason."""
        return self._json("bgpd", f"show bgp {self.vrf_words}summary failed json")

    def bgp_neighbors(self) -> dict[str, Any]:
        """Every neighbor by address."""
        return _dicts_only(self._json("bgpd", f"show bgp {self.vrf_words}neighbors json"))

    def bgp_neighbor(self, address: str) -> dict[str, Any]:
        """One neighbor; empty where there is none with this address."""
        canonical = str(_address(address))
        shown = self._json("bgpd", f"show bgp {self.vrf_words}neighbors {canonical} json")
        return _dicts_only(shown).get(canonical, {})

    def bgp_routes(
        self,
        family: Family = "ipv4",
        neighbor: str | None = None,
        direction: Direction | None = None,
        prefix: str | None = None,
        offset: int = 0,
        limit: int = 100,
    ) -> Page:
        """Routes of BGP's table, ``{"prefix": ..., "paths": [...]}``; with ``neighbor``, those from it or to
        it.

        ``received`` needs ``soft_reconfiguration_inbound``. ``prefix`` selects it and longer prefixes, and
        cannot be combined with ``neighbor``.
        """
        _check_family(family)
        words = f"show bgp {self.vrf_words}{family} unicast"
        if neighbor is not None:
            if prefix is not None:
                raise ValueError("give neighbor or prefix, not both")
            what = "routes" if direction is None else f"{_check_direction(direction)}-routes"
            words += f" neighbors {_address(neighbor)} {what}"
        elif direction is not None:
            raise ValueError("direction needs neighbor")
        elif prefix is not None:
            words += f" {_prefix(prefix, family)} longer-prefixes"
        return self._routes("bgpd", f"{words} json", _ROUTE_MEMBERS, offset, limit)

    def ospf_summary(self) -> dict[str, Any]:
        """The instance and its areas. Empty without OSPF."""
        return self._of_ospf("json")

    def ospf_neighbors(self) -> dict[str, Any]:
        """``neighbors``: by router id, a list."""
        return self._of_ospf("neighbor detail json")

    def ospf_interfaces(self) -> dict[str, Any]:
        """``interfaces``: by name."""
        return self._of_ospf("interface json")

    def ospf_database(self, words: str = "") -> dict[str, Any]:
        """Link state database, one line for each LSA; ``words`` limit it."""
        return self._of_ospf(f"database {words}json")

    def _of_ospf(self, words: str) -> dict[str, Any]:
        """For a VRF asked for by name, ospfd nests some answers under that name."""
        shown = self._json("ospfd", f"show ip ospf {self.vrf_words}{words}")
        return _dicts_only(shown).get(self._vrf, shown) if self._vrf else shown

    def rib_lookup(self, destination: str) -> dict[str, Any] | None:
        """One entry of zebra's table, ``{"prefix": ..., "routes": [...]}``, or None.

        For a prefix, the entry of exactly this prefix; for an address, the longest match. It costs zebra the
        same whatever the size of its table.
        """
        known = _network(destination) if "/" in destination else _address(destination)
        shown = self._json("zebra", f"show {_ip(known.version)} route {self.vrf_words}{known} json")
        for prefix, routes in shown.items():
            if "/" in prefix and isinstance(routes, list) and routes:
                return {"prefix": prefix, "routes": routes}
        return None

    def rib(
        self,
        family: Family = "ipv4",
        prefix: str | None = None,
        protocol: str | None = None,
        offset: int = 0,
        limit: int = 100,
    ) -> Page:
        """Routes of zebra's table, ``{"prefix": ..., "routes": [...]}``.

        ``prefix`` selects it and longer prefixes, ``protocol`` is one of ``PROTOCOLS``. zebra walks its whole
        table for each page, and does nothing else until it has written every selected route: half a second
        for 1,000,000 routes of which few are selected, half a minute where all are.
        """
        _check_family(family)
        words = f"show {_ip(4 if family == 'ipv4' else 6)} route {self.vrf_words}".rstrip()
        if prefix is not None:
            words += f" {_prefix(prefix, family)} longer-prefixes"
        if protocol is not None:
            if protocol not in PROTOCOLS:
                raise ValueError(f"protocol is one of {', '.join(PROTOCOLS)}")
            words += f" {protocol}"
        return self._routes("zebra", f"{words} json", (), offset, limit)

    def rib_summary(self, family: Family = "ipv4") -> dict[str, Any]:
        """Numbers of routes by protocol. zebra walks its whole table to count them."""
        _check_family(family)
        return self._json(
            "zebra", f"show {_ip(4 if family == 'ipv4' else 6)} route {self.vrf_words}summary json"
        )

    def _json(self, daemon: str, command: str) -> dict[str, Any]:
        shown = self._shown(daemon, command)
        return shown if isinstance(shown, dict) else {}

    def _shown(self, daemon: str, command: str) -> Any:
        try:
            return json.loads(self._asking.show(daemon, command))
        except json.JSONDecodeError:
            return None  # FRR answers in words, or not at all, when a protocol does not run

    def _routes(self, daemon: str, command: str, inside: Collection[str], offset: int, limit: int) -> Page:
        name = "paths" if inside else "routes"
        found = (
            {"prefix": prefix, name: value if isinstance(value, list) else [value]}
            for prefix, value in members(self._asking.streamed(daemon, command), inside)
            if "/" in prefix and value
        )
        return page_of(found, offset, limit)


def _dicts_only(shown: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: value for name, value in shown.items() if isinstance(value, dict)}


def _check_family(family: str) -> None:
    if family not in ("ipv4", "ipv6"):
        raise ValueError("family is ipv4 or ipv6")


def _check_direction(direction: str) -> str:
    if direction not in ("received", "advertised"):
        raise ValueError("direction is received or advertised")
    return direction


def _prefix(text: str, family: Family) -> str:
    network = _network(text)
    if network.version != (4 if family == "ipv4" else 6):
        raise ValueError(f"{network} is not an {family} prefix")
    return str(network)


def _address(text: str) -> IPv4Address | IPv6Address:
    """An address without a zone: Python accepts any text after the ``%``."""
    address = ip_address(text)
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        raise ValueError("an address of a question has no zone")
    return address


def _network(text: str) -> IPv4Network | IPv6Network:
    if "%" in text:
        raise ValueError("a prefix of a question has no zone")
    return ip_network(text, strict=False)


def _ip(version: int) -> str:
    return "ip" if version == 4 else "ipv6"
