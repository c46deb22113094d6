"""Random valid documents, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from ipaddress import ip_interface
from typing import Any, TypeVar

from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from appliance.config.ip_protocols import PROTOCOLS
from appliance.config.load import parse_document
from appliance.config.validate import check, require_valid
from appliance.dataplane.nic import Nic
from frr_config import VrfRouting
from tests.property.dhcp_relay_documents import random_relays
from tests.property.meant_clauses import only_meant
from tests.property.nat_documents import random_nat
from tests.property.routing_documents import random_routing
from tests.property.vrf_documents import DEFAULT, random_routings

Json = dict[str, Any]
Own = TypeVar("Own", bound=VrfRouting)

_WORDS = ("uplink", "to the core (east)", "R1/R2: 10G", "customer #7", "")
_BOND_MAC = "02:4d:52:00:00:b0"
_TUNNELS = {"gre": 24, "ipip": 20}
"""Kinds of tunnels, with the bytes that they add to a packet over IPv4."""
_NAMES = ("wan0", "lan0", "core0", "edge-1", "p2p.7", "x")


def random_document(rng: random.Random, capabilities: Capabilities, nics: Sequence[Nic]) -> RouterConfig:
    """A document for a router with these NICs and capabilities; ``check`` has found nothing wrong with it.

    Loopbacks come on any data plane, sub-interfaces where there are VLANs. Raises ValidationFailed when this
    module and the validation disagree: then one of them is wrong.
    """
    interfaces = _interfaces(rng, capabilities, nics)
    acls = {f"acl-{number}": _acl(rng) for number in range(rng.randint(0, 4))}
    members = interfaces.get("bond0", {}).get("members", ())
    for name, interface in interfaces.items():
        if name in members:
            continue
        for direction in ("acl_in", "acl_out"):
            if acls and rng.random() < 0.4:
                interface[direction] = rng.sample(sorted(acls), rng.randint(1, min(3, len(acls))))
    vrfs = _vrfs(rng, interfaces, members) if "vrf" not in capabilities.lacking else {}
    document = {"system": _system(rng), "interfaces": interfaces, "acls": acls, "vrfs": vrfs}
    plain_links = {name: one for name, one in interfaces.items() if name not in members and "vrf" not in one}
    document |= random_nat(rng, plain_links, capabilities.driver)
    if capabilities.driver == "vpp":
        document |= random_relays(rng, document)
    addresses = {
        name: _one_of_each_network(interface["addresses"])
        for name, interface in interfaces.items()
        if name not in members
    }
    plain = parse_document(document)
    can = {
        "static_bfd": "bfd of next hop" not in capabilities.lacking,
        "bfd_echo": capabilities.driver != "vpp",
    }
    config = only_meant(_with_routing(rng, plain, addresses, **can), capabilities)
    if capabilities.driver == "vpp" and any(
        problem.pointer.startswith(("/routing/ospf/interfaces/", "/routing/bgp/neighbors/"))
        for problem in check(config, capabilities)
    ):
        # Protocols of one hop cannot run on the outside interfaces.
        config = config.model_copy(update={"nat": None})
    require_valid(config, capabilities)
    return config


def _point_to_point(routing: Own, tunnels: Collection[str]) -> Own:
    """OSPF on tunnels is point-to-point."""
    if routing.ospf is None:
        return routing
    interfaces = {
        name: one.model_copy(update={"network_type": "point-to-point"}) if name in tunnels else one
        for name, one in routing.ospf.interfaces.items()
    }
    return routing.model_copy(update={"ospf": routing.ospf.model_copy(update={"interfaces": interfaces})})


def _vrfs(rng: random.Random, interfaces: dict[str, Json], members: Sequence[str]) -> dict[str, Json]:
    """Some VRFs, with some of the interfaces in them, by which the router is not managed then."""
    names = rng.sample(["blue", "red", "v-9"], rng.choice([0, 0, 1, 2, 3]))
    tunnels = [one for one in interfaces.values() if one["type"] in _TUNNELS]
    ends = {one["source"] for one in tunnels}
    for name, interface in interfaces.items():
        own = {str(ip_interface(text).ip) for text in interface["addresses"]}
        if interface["type"] in _TUNNELS or ends & {name, *own}:
            continue  # tunnels are in the default VRF, and begin there
        if names and name not in members and rng.random() < 0.5:
            interface["vrf"] = rng.choice(names)
            interface.pop("management_services", None)
            interface.pop("management_sources", None)
    tables = rng.sample(range(1, 250), len(names))
    return {
        name: {"table": table} if rng.random() < 0.5 else {"description": rng.choice(_WORDS)}
        for name, table in zip(names, tables, strict=True)
    }


def _with_routing(
    rng: random.Random, plain: RouterConfig, addresses: dict[str, list[str]], **can: bool
) -> RouterConfig:
    tunnels = {name for name, interface in plain.interfaces.items() if interface.type in _TUNNELS}
    if not plain.vrfs:
        routing = random_routing(rng, addresses, **can)
        return plain.model_copy(update={"routing": _point_to_point(routing, tunnels)})
    shared: dict[str, dict[str, list[str]]] = {vrf: {} for vrf in (DEFAULT, *plain.vrfs)}
    for name, found in addresses.items():
        shared[plain.interfaces[name].vrf or DEFAULT][name] = found
    routing, own = random_routings(rng, shared, **can)
    vrfs = {name: vrf.model_copy(update={"routing": own[name]}) for name, vrf in plain.vrfs.items()}
    return plain.model_copy(update={"routing": _point_to_point(routing, tunnels), "vrfs": vrfs})


def _one_of_each_network(addresses: Sequence[str]) -> list[str]:
    return list({ip_interface(address).network: address for address in reversed(addresses)}.values())


def _system(rng: random.Random) -> Json:
    system: Json = {"hostname": rng.choice(["r1", "edge-7", "Core01"])}
    if rng.random() < 0.5:
        system["dns_servers"] = rng.sample(["192.0.2.53", "2001:db8::53", "198.51.100.53"], rng.randint(1, 3))
    if rng.random() < 0.3:
        system |= {"domain": "example.net", "banner": "no entry", "timezone": "Europe/Oslo"}
    if rng.random() < 0.3:
        system["ntp_servers"] = ["192.0.2.123", "ntp.example.org"]
    return system


def _interfaces(rng: random.Random, capabilities: Capabilities, nics: Sequence[Nic]) -> dict[str, Json]:
    networks = _Networks(rng)
    interfaces: dict[str, Json] = {}
    chosen = rng.sample(sorted(nics, key=lambda nic: nic.device), rng.randint(0, len(nics)))
    names = rng.sample(_NAMES, min(len(chosen), len(_NAMES)))
    # A NIC that has no permanent address, as a veth, has its bond's while VPP has it as a member, and after.
    changing = capabilities.driver == "vpp" and "bond" not in capabilities.lacking
    own = set() if changing else {nic.mac for nic in nics}
    for name, nic in zip(names, chosen, strict=False):
        by_device = rng.random() < 0.5 or nic.mac not in own
        match = {"device": nic.device} if by_device else {"mac": nic.mac}
        settings = {**_settings(rng, networks, 9000), **_management(rng)}
        interfaces[name] = {"type": "ethernet", "match": match, **settings}
    for number in range(rng.randint(0, 2)):
        interfaces[f"loop{number}"] = {"type": "loopback", **_settings(rng, networks, 9000)}
    if capabilities.driver == "vpp" and "memif" not in capabilities.lacking:
        _memifs(rng, networks, interfaces)
    if "bond" not in capabilities.lacking:
        _bond(rng, interfaces, capabilities)
    taken = interfaces.get("bond0", {}).get("members", ())
    parents = [
        name
        for name, interface in interfaces.items()
        if interface["type"] in ("ethernet", "bond", "memif") and name not in taken
    ]
    if "sub_interface" not in capabilities.lacking and parents:
        for vlan_id in rng.sample(range(1, 4095), rng.randint(0, 3)):
            parent = rng.choice(parents)
            largest = interfaces[parent].get("mtu", 1500)
            interfaces[f"vlan{vlan_id}"] = {
                "type": "sub_interface",
                "parent": parent,
                "vlan_id": vlan_id,
                **_settings(rng, networks, largest),
                **_management(rng),
            }
    for kind in _TUNNELS:
        if kind not in capabilities.lacking:
            over_ipv6 = f"{kind}_over_ipv6" not in capabilities.lacking
            _tunnels(rng, networks, interfaces, kind, over_ipv6=over_ipv6)
    return interfaces


def _memifs(rng: random.Random, networks: _Networks, interfaces: dict[str, Json]) -> None:
    """Some on a socket each way."""
    for number in range(rng.choice([0, 0, 1, 3])):
        role = rng.choice(["master", "slave"])
        memif: Json = {"type": "memif", "role": role, "socket": f"to-{role}", "id": number}
        if role == "slave" and rng.random() < 0.5:
            memif |= {"ring_size": rng.choice([128, 1024, 16384]), "buffer_size": rng.choice([2048, 4096])}
            memif |= {"rx_queues": rng.randint(1, 16), "tx_queues": rng.randint(1, 16)}
        if rng.random() < 0.3:
            memif["mac"] = f"02:4d:52:00:01:{number:02x}"
        memif |= {**_settings(rng, networks, 9000), **_management(rng)}
        interfaces[f"memif{number}"] = memif


def _tunnels(
    rng: random.Random, networks: _Networks, interfaces: dict[str, Json], kind: str, *, over_ipv6: bool
) -> None:
    """Tunnels that begin at an interface, or its address, and end in the same network."""
    links = {name: one for name, one in interfaces.items() if one["type"] not in _TUNNELS}
    sources = [(name, address) for name, one in links.items() for address in one["addresses"]]
    for number, (name, text) in enumerate(rng.sample(sources, min(len(sources), rng.randint(0, 3)))):
        address = ip_interface(text)
        longest = 24 if address.version == 4 else 64
        overhead = _TUNNELS[kind] + (0 if address.version == 4 else 20)
        largest = interfaces[name].get("mtu", 1500) - overhead
        if address.network.prefixlen > longest or largest < 1280 or (address.version == 6 and not over_ipv6):
            continue
        settings = {**_settings(rng, networks, 1400), **_management(rng)}
        interfaces[f"{kind}{number + 1}"] = {
            "type": kind,
            "source": rng.choice([name, str(address.ip)]),
            "destination": str(address.network[200 + number]),
            **settings,
            "mtu": min(largest, settings["mtu"]),
        }


def _bond(rng: random.Random, interfaces: dict[str, Json], capabilities: Capabilities) -> None:
    """Some Ethernet interfaces become members; the bond takes over the settings of one of them."""
    ethernets = [name for name, interface in interfaces.items() if interface["type"] == "ethernet"]
    ethernets = [name for name in ethernets if "device" in interfaces[name]["match"]]
    if not ethernets or rng.random() < 0.5:
        return
    members = rng.sample(ethernets, rng.randint(1, len(ethernets)))
    first = interfaces[members[0]]
    mode = rng.choice(["802.3ad", "active-backup", "balance-xor"])
    bond = {key: value for key, value in first.items() if key != "match"}
    bond |= {"type": "bond", "members": members, "mode": mode}
    bond["lacp_rate"] = rng.choice(["fast", "slow"])
    bond["hash_policy"] = rng.choice(["layer2", "layer2+3", "layer3+4"])
    if mode == "active-backup" and rng.random() < 0.5:
        bond["primary"] = rng.choice(members)
    if mode == "802.3ad" and capabilities.driver == "linux":
        bond["minimum_links"] = rng.randint(1, len(members))
    if rng.random() < 0.3:
        bond["mac"] = _BOND_MAC
    interfaces["bond0"] = bond
    for member in members:
        left = {
            key: interfaces[member][key]
            for key in ("type", "match", "description", "enabled")
            if key in interfaces[member]
        }
        interfaces[member] = left | {"addresses": []}


class _Networks:
    """Networks that do not overlap, each handed out once."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._numbers = rng.sample(range(1, 250), 60)

    def ipv4(self) -> list[str]:
        """One or two addresses of one network."""
        number = self._numbers.pop()
        length = self._rng.choice([24, 24, 30, 31, 20 if number % 16 == 0 else 24])
        if length == 20:
            return [f"10.{number}.0.1/20"]
        second = [f"10.99.{number}.251/24"] if length == 24 and self._rng.random() < 0.2 else []
        return [f"10.99.{number}.1/{length}", *second]

    def ipv6(self) -> list[str]:
        """An address."""
        number = self._numbers.pop()
        return [f"2001:db8:{number:x}::1/{self._rng.choice([64, 64, 127, 128])}"]


def _settings(rng: random.Random, networks: _Networks, largest: int) -> Json:
    settings: Json = {"description": rng.choice(_WORDS)}
    addresses: list[str] = []
    for _ in range(rng.choice([0, 1, 1, 2])):
        addresses += networks.ipv4()
    for _ in range(rng.choice([0, 1, 1])):
        addresses += networks.ipv6()
    settings["addresses"] = addresses
    if rng.random() < 0.3:
        settings["mtu"] = rng.choice([mtu for mtu in (1280, 1400, 1500, 9000) if mtu <= largest])
    elif largest < 1500:
        settings["mtu"] = largest
    if rng.random() < 0.15:
        settings["enabled"] = False
    return settings


def _management(rng: random.Random) -> Json:
    if rng.random() < 0.6:
        return {}
    services = rng.sample(["ssh", "https"], rng.randint(1, 2))
    sources = rng.sample(["192.0.2.0/24", "0.0.0.0/0", "198.51.100.7/32", "2001:db8::/32"], rng.randint(0, 3))
    return {"management_services": services, "management_sources": sources}


def _acl(rng: random.Random) -> Json:
    sequences = rng.sample(range(1, 65536), rng.randint(0, 12))
    return {"description": rng.choice(_WORDS), "rules": {str(number): _rule(rng) for number in sequences}}


def _rule(rng: random.Random) -> Json:
    family = rng.choice(["ipv4", "ipv6"])
    rule: Json = {"action": rng.choice(["permit", "deny", "permit_reflect"]), "family": family}
    for side in ("source", "destination"):
        if rng.random() < 0.6:
            rule[side] = _prefix(rng, family)
    kind = rng.choice(["any", "tcp", "udp", "icmp", "named", "number"])
    if kind in ("tcp", "udp"):
        rule["protocol"] = kind
        for side in ("source_ports", "destination_ports"):
            if rng.random() < 0.5:
                low = rng.randint(0, 65535)
                rule[side] = rng.choice([str(low), f"{low}-{rng.randint(low, 65535)}"])
        if kind == "tcp" and rng.random() < 0.4:
            flags = rng.sample(["fin", "syn", "rst", "psh", "ack", "urg"], rng.randint(1, 4))
            split = rng.randint(0, len(flags))
            rule["tcp_flags"] = {"set": flags[:split], "unset": flags[split:]}
    elif kind == "icmp":
        rule["protocol"] = "icmp" if family == "ipv4" else "icmpv6"
        if rng.random() < 0.6:
            rule["icmp_type"] = rng.randint(0, 255)
            if rng.random() < 0.5:
                rule["icmp_code"] = rng.randint(0, 255)
    elif kind == "named":
        rule["protocol"] = rng.choice([name for name in PROTOCOLS if not name.startswith("icmp")])
    elif kind == "number":
        rule["protocol"] = str(rng.choice([3, 94, 200, 255]))
    return rule


def _prefix(rng: random.Random, family: str) -> str:
    if family == "ipv4":
        return rng.choice(["0.0.0.0/0", "10.0.0.0/8", "192.0.2.1/32", f"172.{rng.randint(16, 31)}.0.0/16"])
    return rng.choice(
        ["::/0", "2001:db8::/32", "2001:db8::1/128", f"2001:db8:{rng.randint(1, 65535):x}::/48"]
    )
