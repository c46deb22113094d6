"""Random but valid routing of several VRFs: what each has of its own, and what leaks between them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from ipaddress import ip_address, ip_network
from typing import Any

from frr_config import Routing, VrfRouting
from tests.property.routing_documents import Generator

Interfaces = Mapping[str, Sequence[str]]
DEFAULT = "default"


def random_routings(
    rng: random.Random,
    interfaces: Mapping[str, Interfaces],
    *,
    static_bfd: bool = False,
    bfd_echo: bool = True,
) -> tuple[Routing, dict[str, VrfRouting]]:
    """Valid routing of the default VRF and of each other one.

    ``interfaces`` are those of each VRF with their addresses, as ``random_routing`` takes them; ``default``
    has to be among them.
    """
    first = Generator(rng, interfaces[DEFAULT], static_bfd, bfd_echo)
    drawn: dict[str, dict[str, Any]] = {DEFAULT: first.routing()}
    generators = {DEFAULT: first}
    for name in interfaces:
        if name == DEFAULT:
            continue
        own = generators[name] = Generator(rng, interfaces[name], static_bfd, bfd_echo)
        own.lists, own.maps, own.profiles = first.lists, first.maps, first.profiles
        bgp = own.bgp() if own.some(0.7) else None
        ospf = own.ospf() if own.some(0.6) else None
        if bgp is not None and ospf is None:
            bgp["ipv4_unicast"].get("redistribute", {}).pop("ospf", None)
        drawn[name] = {"static": own.static(), "bgp": bgp, "ospf": ospf}
    _leak(rng, drawn, first.maps)
    _leak_statically(generators, drawn)
    routing = Routing.model_validate(drawn.pop(DEFAULT))
    return routing, {name: VrfRouting.model_validate(own) for name, own in drawn.items()}


def _leak(rng: random.Random, drawn: dict[str, dict[str, Any]], maps: Sequence[str]) -> None:
    speaking = [name for name, own in drawn.items() if own["bgp"] is not None]
    if DEFAULT not in speaking:
        return
    for name in speaking:
        for family in ("ipv4_unicast", "ipv6_unicast"):
            others = [other for other in speaking if other != name]
            if others and rng.random() < 0.5:
                into = drawn[name]["bgp"][family]
                into["import_vrfs"] = rng.sample(others, rng.randint(1, len(others)))
                if maps and rng.random() < 0.4:
                    into["import_route_map"] = rng.choice(maps)


def _leak_statically(generators: Mapping[str, Generator], drawn: dict[str, dict[str, Any]]) -> None:
    """Some next hops are in another VRF, as hosts of its networks."""
    for name, own in generators.items():
        for prefix, route in drawn[name]["static"].items():
            others = [other for other in generators if other != name]
            if not others or not own.some(0.3) or "next_hops" not in route:
                continue
            other = own.rng.choice(others)
            hosts = [
                host
                for host in generators[other].neighbors(6 if ":" in prefix else 4)
                if ip_address(host[1]) not in ip_network(prefix)
            ]
            if hosts:
                interface, address = own.rng.choice(hosts)
                hop = {"address": address, "vrf": other}
                own.maybe(hop, "interface", interface, 0.5)
                own.maybe(hop, "distance", own.rng.choice((1, 5, 200)))
                route["next_hops"].append(hop)
