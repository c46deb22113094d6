"""Random DHCP relays, the same for the same seed."""

from __future__ import annotations

import random
from ipaddress import ip_interface
from typing import Any

Json = dict[str, Any]


def random_relays(rng: random.Random, document: Json) -> Json:
    """``{"dhcp_relays": ...}`` for some VRFs of a document for VPP, to servers in 198.18.67.0/24.

    There is none in a VRF with a tunnel. Addresses of loopbacks and links alike are sources.
    """
    sources = [
        (str(address.ip), one.get("vrf"))
        for one in document["interfaces"].values()
        for text in one["addresses"]
        if (address := ip_interface(text)).version == 4
    ]
    with_tunnels = {
        one.get("vrf") for one in document["interfaces"].values() if one["type"] in ("gre", "ipip")
    }
    vrfs = [vrf for vrf in (None, *document["vrfs"]) if vrf not in with_tunnels]
    if not sources or rng.random() < 0.5:
        return {}
    relays: Json = {}
    for number, vrf in enumerate(rng.sample(vrfs, rng.randint(0, len(vrfs)))):
        source, server_vrf = rng.choice(sources)
        relay = {"server": f"198.18.67.{rng.randint(1, 254)}", "source_address": source}
        chosen = {"vrf": vrf, "server_vrf": server_vrf}
        relays[f"relay-{number}"] = relay | {key: value for key, value in chosen.items() if value is not None}
    return {"dhcp_relays": relays}
