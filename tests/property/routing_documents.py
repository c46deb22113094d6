"""Random but valid `Routing` documents: every field of the models appears, names always resolve.

Seedable and pure: one ``random.Random`` gives one document. ``random_routing`` is composed by the generator
of whole router documents.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv6Interface, ip_interface
from typing import Any

from frr_config import Routing

_TEXT = "ABCDEFGHIJ abcdefghij 0123456789 ,.:;()/_+=@#*-"
_SECRET = "".join(chr(code) for code in range(0x21, 0x7F))
_REGEXES = ("^65001_", "_64512$", "^$", "^(65001|65002)_[0-9]+$", "_65010_", ".*", "^65[0-9]*(_65[0-9]*)*$")
_COMMUNITIES = ("65001:100", "65001:20", "65535:1", "0:7", "no-export", "no-advertise", "local-AS", "no-peer")
_MORE_COMMUNITIES = ("blackhole", "graceful-shutdown", "64512:0", "65535:666", "65535:65281")
_LARGE = ("65001:1:2", "4294967295:0:7", "65001:10:2", "1:2:3", "65001:2:2")
_CALLED_LEAST = 3

Dict = dict[str, Any]


def random_routing(
    rng: random.Random,
    interfaces: Mapping[str, Sequence[str]],
    *,
    static_bfd: bool = False,
    bfd_echo: bool = True,
) -> Routing:
    """A valid document for a router with these interfaces.

    ``interfaces`` maps a name to its addresses with length (``"192.0.2.2/30"``, ``"2001:db8::1/64"``): next
    hops and neighbors are other hosts of these networks, so that cross-reference checks pass as well.
    ``static_bfd``: FRR is of a release that watches next hops with BFD; ``bfd_echo``: the data plane lets
    echo packets back in.
    """
    return Routing.model_validate(Generator(rng, interfaces, static_bfd, bfd_echo).routing())


class Generator:
    """Draws one document; names that one part makes up, later ones use."""

    def __init__(
        self,
        rng: random.Random,
        interfaces: Mapping[str, Sequence[str]],
        static_bfd: bool,
        bfd_echo: bool,
    ) -> None:
        self.rng, self.static_bfd, self.bfd_echo = rng, static_bfd, bfd_echo
        self.addresses = {
            name: [ip_interface(address) for address in found] for name, found in interfaces.items()
        }
        self.own = {str(address.ip) for found in self.addresses.values() for address in found}
        self.lists: dict[str, list[str]] = {"ipv4": [], "ipv6": []}
        self.as_paths: list[str] = []
        self.communities: list[str] = []
        self.maps: list[str] = []
        self.kinds: dict[str, bool] = {}
        self.profiles: list[str] = []

    def routing(self) -> Dict:
        bfd, policy = self.bfd(), self.policy()
        bgp = self.bgp() if self.some(0.85) else None
        ospf = self.ospf() if self.some(0.75) else None
        if bgp is not None and ospf is None:
            bgp["ipv4_unicast"].get("redistribute", {}).pop("ospf", None)
        return {"static": self.static(), "policy": policy, "bgp": bgp, "ospf": ospf, "bfd": bfd}

    # Small things

    def some(self, probability: float) -> bool:
        return self.rng.random() < probability

    def text(self) -> str:
        return "".join(self.rng.choices(_TEXT, k=self.rng.randint(1, 60))).strip()

    def secret(self, longest: int) -> str:
        return "".join(self.rng.choices(_SECRET, k=self.rng.randint(1, longest))).replace("$sealed$", "x")

    def pick(self, found: Sequence[Any]) -> Any:
        return self.rng.choice(found) if found else None

    def maybe(self, into: Dict, key: str, value: Any, probability: float = 0.3) -> None:
        """Set a field sometimes, and never to None."""
        if value is not None and self.some(probability):
            into[key] = value

    def u32(self) -> int:
        return self.rng.choice((0, 1, 5, 100, 65536, 4294967295, self.rng.randint(0, 1 << 31)))

    def names(self, start: str, most: int) -> list[str]:
        found = self.rng.sample(range(9), self.rng.randint(0, most))
        return [f"{start}{number}" for number in found]

    def neighbors(self, family: int) -> list[tuple[str, str]]:
        """(interface, address) of hosts that could be there."""
        hosts = []
        for name, found in self.addresses.items():
            for address in found:
                if address.version == family and address.network.num_addresses > 2:
                    hosts += [(name, host) for host in _others(address) if host not in self.own]
        return hosts

    # BFD

    def bfd(self) -> Dict:
        profiles = {name: self.bfd_profile() for name in self.names("bfd", 3)}
        self.profiles = list(profiles)
        return {"profiles": profiles}

    def bfd_profile(self) -> Dict:
        found: Dict = {}
        self.maybe(found, "detect_multiplier", self.rng.choice((2, 3, 5, 255)))
        for field in ("transmit_interval_ms", "receive_interval_ms", "echo_transmit_interval_ms"):
            self.maybe(found, field, self.rng.choice((10, 50, 300, 60000)))
        self.maybe(found, "echo_receive_interval_ms", self.rng.choice((0, 10, 50, 60000)))
        for field in ("passive", "echo") if self.bfd_echo else ("passive",):
            self.maybe(found, field, True)
        self.maybe(found, "minimum_ttl", self.rng.choice((1, 250, 254)))
        return found

    # Policy

    def policy(self) -> Dict:
        prefix_lists = {name: self.prefix_list(name) for name in self.names("pl", 4)}
        as_path_lists = {name: {"rules": self.rules(self.as_path_rule)} for name in self.names("ap", 2)}
        community_lists = {name: {"rules": self.rules(self.community_rule)} for name in self.names("cl", 2)}
        self.as_paths, self.communities = list(as_path_lists), list(community_lists)
        self.maps = sorted(self.names("rm", 6))
        route_maps = {
            name: {"rules": self.rules(lambda name=name: self.map_rule(name))} for name in self.maps
        }
        for route_map in route_maps.values():
            self.continuations(route_map["rules"])
        return {
            "prefix_lists": prefix_lists,
            "as_path_lists": as_path_lists,
            "community_lists": community_lists,
            "route_maps": route_maps,
        }

    def rules(self, rule: Any) -> Dict:
        sequences = self.rng.sample((1, 5, 10, 20, 30, 100, 65535), self.rng.randint(0, 4))
        return {str(sequence): rule() for sequence in sequences}

    def action(self) -> str:
        return self.rng.choice(("permit", "permit", "deny"))

    def prefix_list(self, name: str) -> Dict:
        family = self.rng.choice(("ipv4", "ipv6"))
        self.lists[family].append(name)
        rules = self.rules(lambda: self.prefix_rule(family))
        once = {
            tuple(rule.get(key) or 0 for key in ("action", "prefix", "ge", "le")): at
            for at, rule in rules.items()
        }
        found: Dict = {"family": family, "rules": {at: rules[at] for at in once.values()}}
        self.maybe(found, "description", self.text())
        return found

    def prefix_rule(self, family: str) -> Dict:
        prefix = self.prefix(family)
        length, top = int(prefix.split("/")[1]), 32 if family == "ipv4" else 128
        found: Dict = {"action": self.action(), "prefix": prefix}
        low = self.rng.choice((length, self.rng.randint(length, top)))
        self.maybe(found, "ge", low)
        self.maybe(found, "le", self.rng.choice((low, self.rng.randint(low, top))))
        if found.get("le") == 0:
            del found["le"]
        if found.get("ge") == 0 and "le" not in found:
            del found["ge"]
        return found

    def prefix(self, family: str) -> str:
        if family == "ipv4":
            length = self.rng.choice((0, 8, 16, 24, 32))
            base = int(IPv4Address("198.18.0.0")) + self.rng.getrandbits(17) if length else 0
            return str(IPv4Interface((base, length)).network)
        length = self.rng.choice((0, 32, 48, 64, 128))
        base = (0x20010DB8 << 96) + self.rng.getrandbits(40) if length else 0
        return str(IPv6Interface((base, length)).network)

    def as_path_rule(self) -> Dict:
        return {"action": self.action(), "regex": self.rng.choice(_REGEXES)}

    def some_communities(self) -> list[str]:
        known = {"65535:666": "blackhole", "65535:65281": "no-export"}
        found = self.rng.sample(_COMMUNITIES + _MORE_COMMUNITIES, self.rng.randint(1, 4))
        seen: dict[str, str] = {}
        for community in found:
            seen.setdefault(known.get(community, community), community)
        return list(seen.values())

    def community_rule(self) -> Dict:
        return {"action": self.action(), "communities": self.some_communities()}

    def map_rule(self, name: str) -> Dict:
        match: Dict = {}
        self.maybe(match, "prefix_list", self.pick(self.lists["ipv4"]))
        self.maybe(match, "ipv6_prefix_list", self.pick(self.lists["ipv6"]))
        self.maybe(match, "as_path_list", self.pick(self.as_paths))
        self.maybe(match, "community_list", self.pick(self.communities))
        self.maybe(match, "interface", self.pick(list(self.addresses)), 0.15)
        self.maybe(match, "metric", self.u32() or 1, 0.15)
        self.maybe(match, "tag", self.rng.randint(1, 4294967295), 0.15)
        protocols = ("bgp", "connected", "kernel", "ospf", "static")
        self.maybe(match, "source_protocol", self.rng.choice(protocols), 0.15)
        found: Dict = {"action": self.action(), "match": match, "set": self.set_actions()}
        self.maybe(found, "description", self.text())
        later = [other for other in self.maps if other > name]
        self.maybe(found, "call", self.pick(later), 0.2)
        if found["action"] == "deny":
            # It ends the map at once: it changes and calls nothing.
            found.pop("set")
            found.pop("call", None)
        return found

    def set_actions(self) -> Dict:
        found: Dict = {}
        for field in ("local_preference", "metric", "weight"):
            self.maybe(found, field, self.u32(), 0.2)
        self.maybe(found, "metric_type", self.rng.choice(("type-1", "type-2")), 0.15)
        self.maybe(found, "origin", self.rng.choice(("igp", "incomplete")), 0.15)
        self.maybe(found, "next_hop", "198.51.100.7", 0.15)
        self.maybe(found, "ipv6_next_hop", "2001:db8:ffff::7", 0.15)
        self.maybe(
            found, "as_path_prepend", [self.rng.choice((65000, 1, 4200000000))] * self.rng.randint(1, 3), 0.2
        )
        if self.some(0.25):
            found["communities"] = self.some_communities()
            found["communities_additive"] = self.some(0.5)
        self.maybe(found, "large_communities", self.rng.sample(_LARGE, self.rng.randint(1, 3)), 0.2)
        self.maybe(found, "tag", self.rng.randint(1, 4294967295), 0.15)
        self.maybe(found, "source", self.pick(sorted(self.own)), 0.15)
        return found

    def continuations(self, rules: Dict) -> None:
        sequences = sorted(map(int, rules))
        for at, sequence in enumerate(sequences[:-1]):
            rule = rules[str(sequence)]
            if rule["action"] == "deny":
                continue
            if self.some(0.2):
                rule["on_match_next"] = True
            elif self.some(0.2):
                rule["on_match_goto"] = self.rng.choice(sequences[at + 1 :])

    # Static routes

    def static(self) -> Dict:
        found: Dict = {}
        for _ in range(self.rng.randint(0, 12)):
            family = self.rng.choice(("ipv4", "ipv6"))
            prefix = self.prefix(family)
            if prefix.endswith("/0") and self.some(0.5):
                continue
            found[prefix] = self.static_route(4 if family == "ipv4" else 6)
        return found

    def static_route(self, family: int) -> Dict:
        found: Dict = {}
        self.maybe(found, "tag", self.rng.choice((1, 7, 4294967295)))
        hosts = self.neighbors(family)
        if not hosts or self.some(0.15):
            return found | {"blackhole": True}
        hops = []
        for interface, address in self.rng.sample(hosts, min(len(hosts), self.rng.randint(1, 3))):
            hop: Dict = {"address": address}
            self.maybe(hop, "interface", interface, 0.3)
            self.maybe(hop, "distance", self.rng.choice((1, 5, 200, 255)), 0.3)
            if self.static_bfd:
                self.watched(hop, family)
            hops.append(hop)
        if self.some(0.15):
            hops.append({"interface": self.pick(list(self.addresses))})
        if family == 6 and self.some(0.2):
            hops.append({"address": "fe80::7", "interface": self.pick(list(self.addresses))})
        return found | {"next_hops": hops}

    def watched(self, hop: Dict, family: int) -> None:
        self.maybe(hop, "bfd_profile", self.pick(self.profiles))
        if "bfd_profile" in hop and self.some(0.3):
            hop["bfd_multihop"] = True
            sources = [address for address in sorted(self.own) if (":" in address) == (family == 6)]
            self.maybe(hop, "bfd_source", self.pick(sources))

    # BGP

    def bgp(self) -> Dict:
        asn = self.rng.choice((65000, 65000, 65000, 64999, 4200000000))
        found: Dict = {"asn": asn, "router_id": self.rng.choice(("10.255.0.1", "10.255.0.2"))}
        self.maybe(found, "ebgp_requires_policy", False)
        self.maybe(found, "timers", self.timers())
        groups = {name: self.peer_group(asn) for name in self.names("PG", 2)}
        found["peer_groups"] = groups
        everyone = self.neighbors(4) + self.neighbors(6)
        chosen = self.rng.sample(everyone, min(len(everyone), self.rng.randint(0, 5)))
        found["neighbors"] = {address: self.neighbor(asn, address, groups) for _, address in chosen}
        for family in ("ipv4", "ipv6"):
            found[f"{family}_unicast"] = self.bgp_family(family)
        return found

    def timers(self) -> Dict:
        return self.rng.choice(({"keepalive_s": 60, "hold_s": 180}, {"keepalive_s": 3, "hold_s": 9}, {}))

    def remote_as(self, asn: int) -> Any:
        return self.rng.choice((asn, 65001, 65002, 4200000001, "internal", "external"))

    def peer_group(self, asn: int) -> Dict:
        remote_asn = self.remote_as(asn) if self.some(0.6) else None
        found = self.settings(remote_asn in ("internal", asn), None, others=remote_asn is None)
        if remote_asn is not None:
            found["remote_asn"] = remote_asn
        return found

    def neighbor(self, asn: int, address: str, groups: Mapping[str, Dict]) -> Dict:
        group_name = self.pick(list(groups)) if self.some(0.4) else None
        group = groups[group_name] if group_name is not None else {}
        own = None if "remote_asn" in group else self.remote_as(asn)
        if own is not None and group_name is not None:
            # FRR wants the members of a group to be all internal or all external.
            is_internal = self.kinds.setdefault(group_name, own in ("internal", asn))
            own = "internal" if is_internal else self.rng.choice((65001, 65002, "external"))
        remote_asn = group.get("remote_asn", own)
        found = self.settings(remote_asn in ("internal", asn), 6 if ":" in address else 4, group=group)
        if own is not None:
            found["remote_asn"] = own
        if group_name is not None:
            found["peer_group"] = group_name
        if not any(family in {**group, **found} for family in ("ipv4_unicast", "ipv6_unicast")):
            found["ipv4_unicast"] = {}
        for family in ("ipv4_unicast", "ipv6_unicast"):
            if group.get(family, {}).get("maximum_prefix_warning_only") and "maximum_prefix" in found.get(
                family, {}
            ):
                found[family]["maximum_prefix_warning_only"] = True
        self.maybe(found, "enabled", False, 0.15)
        return found

    def settings(
        self, is_internal: bool, family: int | None, *, group: Dict | None = None, others: bool = False
    ) -> Dict:
        """What neighbors and groups share; ``others``: members of both kinds are possible."""
        found: Dict = {}
        self.maybe(found, "description", self.text())
        self.maybe(found, "password", self.secret(80), 0.2)
        grouped = group or {}
        multihop = {"ebgp_multihop", "ttl_security_hops"} & grouped.keys()
        if not is_internal and not others and not multihop:
            if self.some(0.2):
                found["ebgp_multihop"] = self.rng.choice((2, 10, 255))
            elif self.some(0.2):
                found["ttl_security_hops"] = self.rng.choice((1, 254))
        sources: list[str] = list(self.addresses)
        if family is not None:
            sources += [a for a in sorted(self.own) if (":" in a) == (family == 6)]
        self.maybe(found, "update_source", self.pick(sources), 0.2)
        self.maybe(found, "timers", self.timers())
        self.maybe(found, "connect_retry_s", self.rng.choice((1, 30, 120, 65535)), 0.2)
        self.maybe(found, "passive", True, 0.15)
        self.maybe(found, "bfd_profile", self.pick(self.profiles))
        self.maybe(found, "ipv4_unicast", self.exchanged("ipv4", is_internal, others), 0.6)
        self.maybe(found, "ipv6_unicast", self.exchanged("ipv6", is_internal, others), 0.5)
        return found

    def exchanged(self, family: str, is_internal: bool, others: bool) -> Dict:
        found: Dict = {}
        for field in ("route_map_in", "route_map_out"):
            self.maybe(found, field, self.pick(self.maps))
        for field in ("prefix_list_in", "prefix_list_out"):
            self.maybe(found, field, self.pick(self.lists[family]))
        if self.some(0.3):
            found["maximum_prefix"] = self.rng.choice((1, 100, 4294967295))
            found["maximum_prefix_warning_only"] = self.some(0.5)
        for field in ("next_hop_self", "soft_reconfiguration_inbound", "default_originate"):
            self.maybe(found, field, True, 0.2)
        if is_internal and not others:
            self.maybe(found, "route_reflector_client", True)
        if not is_internal and not others:
            self.maybe(found, "remove_private_as", True, 0.2)
        self.maybe(found, "allowas_in", self.rng.choice((1, 3, 10)), 0.2)
        return found

    def bgp_family(self, family: str) -> Dict:
        found: Dict = {"networks": sorted({self.prefix(family) for _ in range(self.rng.randint(0, 4))})}
        protocols = ("connected", "static", "ospf") if family == "ipv4" else ("connected", "static")
        found["redistribute"] = {}
        for protocol in protocols:
            attributes: Dict = {}
            self.maybe(attributes, "route_map", self.pick(self.maps), 0.4)
            self.maybe(attributes, "metric", self.u32(), 0.4)
            self.maybe(found["redistribute"], protocol, attributes, 0.4)
        for field in ("maximum_paths", "maximum_paths_ibgp"):
            self.maybe(found, field, self.rng.choice((1, 8, 64)))
        return found

    # OSPF

    def ospf(self) -> Dict:
        found: Dict = {"router_id": self.rng.choice(("10.255.0.1", "10.255.0.2"))}
        self.maybe(found, "reference_bandwidth_mbps", self.rng.choice((1, 100000, 4294967)))
        areas = ("0.0.0.0", "0.0.0.1", "0.0.0.2", "10.0.0.0")
        found["areas"] = {}
        for area in areas[1:]:
            kind = self.rng.choice(("normal", "stub", "nssa"))
            self.maybe(
                found["areas"], area, {"type": kind, "no_summary": kind != "normal" and self.some(0.4)}, 0.4
            )
        able = [name for name, found in self.addresses.items() if any(a.version == 4 for a in found)]
        found["interfaces"] = {name: self.ospf_interface(areas) for name in able if self.some(0.6)}
        found["redistribute"] = {}
        for protocol in ("connected", "static", "bgp"):
            self.maybe(found["redistribute"], protocol, self.external(), 0.3)
        self.maybe(found, "default_information", self.external() | {"always": self.some(0.5)}, 0.3)
        return found

    def external(self) -> Dict:
        found: Dict = {}
        self.maybe(found, "route_map", self.pick(self.maps))
        self.maybe(found, "metric", self.rng.choice((0, 1, 16777214)))
        self.maybe(found, "metric_type", self.rng.choice((1, 2)))
        return found

    def ospf_interface(self, areas: Sequence[str]) -> Dict:
        hello = self.rng.choice((1, 5, 10, 65534))
        found: Dict = {
            "area": self.rng.choice(areas),
            "hello_interval_s": hello,
            "dead_interval_s": self.rng.choice([value for value in (4, 20, 40, 65535) if value > hello]),
        }
        self.maybe(found, "cost", self.rng.choice((1, 10, 65535)))
        self.maybe(found, "passive", True, 0.2)
        self.maybe(found, "bfd_profile", self.pick(self.profiles))
        self.maybe(found, "network_type", self.rng.choice(("broadcast", "point-to-point")))
        self.maybe(found, "priority", self.rng.choice((0, 1, 255)))
        if self.some(0.3):
            if self.some(0.5):
                found["authentication"] = {"type": "simple", "key": self.secret(8)}
            else:
                key_id = self.rng.choice((1, 2, 255))
                found["authentication"] = {"type": "md5", "key": self.secret(16), "key_id": key_id}
        return found


def _others(address: IPv4Interface | IPv6Interface) -> list[str]:
    """A few other hosts of an address's network."""
    base, size = int(address.network.network_address), address.network.num_addresses
    return [str(type(address.ip)(base + at)) for at in range(1, min(size - 1, 8))]
