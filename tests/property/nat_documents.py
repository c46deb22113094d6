"""Random translation, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from ipaddress import IPv4Interface, ip_interface
from typing import Any

Json = dict[str, Any]


def random_nat(rng: random.Random, interfaces: Mapping[str, Json], driver: str) -> Json:
    """``{"nat": ...}`` for some of these interfaces; nothing, where there are too few or by chance.

    Pools are in 198.18.0.0/15, outside of every network that a random document has.
    """
    links = sorted(name for name, one in interfaces.items() if one["type"] != "loopback")
    if len(links) < 2 or rng.random() < 0.4:
        return {}
    rng.shuffle(links)
    sides = rng.randint(1, len(links) - 1)
    inside, outside = links[:sides], links[sides:]
    own = {name: _own(interfaces[name]) for name in outside}
    nat: Json = {"inside": inside, "outside": outside}
    nat["masquerade"] = [name for name in outside if own[name] and rng.random() < 0.7]
    if len(nat["masquerade"]) < len(outside) or rng.random() < 0.3:
        ranges = ["198.18.1.8/29", "198.18.1.77", "198.18.1.100-198.18.1.120"]
        nat["pools"] = {"p": {"addresses": rng.sample(ranges, rng.randint(1, 3))}}
    nat["static"] = {
        f"host{number}": {
            "outside_address": f"198.18.2.{number}", "inside_address": f"172.16.0.{number}",
        }
        for number in rng.sample(range(10, 100), rng.randint(0, 4))
    }  # fmt: skip
    nat["port_forwards"] = {
        f"port{number}": _forward(rng, number, [name for name in outside if own[name]])
        for number in rng.sample(range(1000, 9999), rng.randint(0, 4))
    }
    rules = ({"source": "10.99.0.0/16"}, {"destination": "192.0.2.1/32"}, {"source": "172.16.0.9/32"})
    sequences = rng.sample(range(1, 65535), rng.randint(0, 3))
    nat["no_nat"] = {str(number): dict(rng.choice(rules)) for number in sequences}
    if rng.random() < 0.5:
        nat["timeouts"] = {"udp_s": rng.choice([60, 300]), "tcp_established_s": rng.choice([600, 432000])}
    if rng.random() < 0.5:
        nat["sessions_per_user"] = rng.choice([1, 100, 10000])
    if driver == "vpp":
        _as_vpp_can(nat)
        if rng.random() < 0.3:
            nat["sessions_per_worker"] = rng.choice([1000, 131072])
    return {"nat": nat}


def _as_vpp_can(nat: Json) -> None:
    """One set of outside addresses, and neither exceptions nor limits of users."""
    nat.pop("sessions_per_user", None)
    nat["no_nat"] = {}
    if nat.get("pools"):
        nat["masquerade"] = []
    elif len(nat["masquerade"]) > 1:
        nat |= {"masquerade": [], "pools": {"p": {"addresses": ["198.18.1.8/29"]}}}


def _own(interface: Json) -> bool:
    return any(isinstance(ip_interface(text), IPv4Interface) for text in interface["addresses"])


def _forward(rng: random.Random, number: int, interfaces: list[str]) -> Json:
    forward: Json = {"protocol": rng.choice(["tcp", "udp"]), "outside_port": number}
    forward["inside_address"] = f"172.16.1.{rng.randint(1, 254)}"
    if interfaces and rng.random() < 0.5:
        forward["outside_interface"] = rng.choice(interfaces)
    else:
        forward["outside_address"] = rng.choice(["198.18.3.1", "198.18.3.2"])
    if rng.random() < 0.5:
        forward["inside_port"] = rng.randint(1, 65535)
    return forward
