"""What the router does, told by programs that know nothing of Millrace: ip, vtysh, vppctl and packets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from ipaddress import ip_interface, ip_network
from typing import Any

from lab import addressing as at
from lab import frr_daemons
from lab.errors import LabError
from tests.live_lab import LiveLab
from tests.soak.lab_documents import DENIED_HOST, denies

Json = dict[str, Any]
FAR_HOSTS = tuple(
    str(address.ip)
    for address in (at.WAN_HOST.far_v4, at.WAN_HOST.far_v6, at.CORE_HOST.far_v4, at.CORE_HOST.far_v6)
)
_NEIGHBOR = re.compile(r"^ neighbor ([0-9a-fA-F.:]+) (?:remote-as|peer-group) ", re.MULTILINE)
_STATIC = re.compile(r"^ip(?:v6)? route (\S+) ", re.MULTILINE)
_EMPTY_MAP = "65535"
"""FRR has no empty route map: a rule that denies all stands for it."""
_MAP = re.compile(r"^route-map (\S+) (?:permit|deny) (\d+)", re.MULTILINE)


def differences(live: LiveLab, document: Json) -> list[str]:
    """Where the live router is not as ``document`` says, one sentence each; empty when it is."""
    return [
        *_addresses(live, document),
        *_routing(live, document),
        *_host_files(live, document),
        *(_vpp_addresses(live, document) if live.dataplane == "vpp" else ()),
    ]


def forwarding(live: LiveLab, document: Json) -> list[str]:
    """Far hosts that do not answer the LAN host, and packets that pass an access list against them."""
    lan = live.topology.namespaces.lan
    silent = [
        f"{address} does not answer the LAN" for address in FAR_HOSTS if not answers(live, lan, address)
    ]
    reached = answers(live, lan, DENIED_HOST)
    if reached and denies(document):
        silent.append(f"{DENIED_HOST} answers the LAN although the access list soak denies it")
    if not reached and not denies(document):
        silent.append(f"{DENIED_HOST} does not answer the LAN although nothing denies it")
    return silent


def answers(live: LiveLab, namespace: str, address: str) -> bool:
    """Whether one echo comes back."""
    words = ["ping", "-n", "-q", "-c", "1", "-W", "1", address]
    return " 0% packet loss" in live.topology.run(namespace, words, check=False)


def _addresses(live: LiveLab, document: Json) -> Iterator[str]:
    shown = json.loads(
        live.topology.run(live.topology.namespaces.router, ["ip", "-j", "address", "show"]) or "[]"
    )
    found = {
        link["ifname"]: {
            f"{entry['local']}/{entry['prefixlen']}"
            for entry in link.get("addr_info", ())
            if entry.get("scope") == "global"
        }
        for link in shown
        if link
    }
    for name, wanted in _wanted_addresses(document).items():
        if name not in found:
            yield f"ip: there is no interface {name}"
        elif found[name] != wanted:
            yield f"ip: {name} has {sorted(found[name])}, not {sorted(wanted)}"
    for name in found.keys() - document["interfaces"].keys():
        if re.fullmatch(r"loop\d+|vlan\d+", name):
            yield f"ip: {name} is not in the document"


def _wanted_addresses(document: Json) -> dict[str, set[str]]:
    return {
        name: {str(ip_interface(address)) for address in interface.get("addresses", ())}
        for name, interface in document["interfaces"].items()
    }


def _vpp_addresses(live: LiveLab, document: Json) -> Iterator[str]:
    found = set(re.findall(r"^\s+L3 (\S+)", live.vppctl("show", "interface", "address"), re.MULTILINE))
    for name, wanted in _wanted_addresses(document).items():
        if missing := wanted - found:
            yield f"vppctl: {name} lacks {sorted(missing)}"


def _routing(live: LiveLab, document: Json) -> Iterator[str]:
    try:
        text = frr_daemons.vtysh(live.topology.namespaces.router, "show running-config")
    except LabError as error:
        yield f"vtysh: {error}"
        return
    routing = document["routing"]
    yield from _compared("BGP neighbors", set(_NEIGHBOR.findall(text)), set(routing["bgp"]["neighbors"]))
    yield from _compared(
        "static routes",
        {str(ip_network(prefix)) for prefix in _STATIC.findall(text)},
        {str(ip_network(prefix)) for prefix in routing.get("static", {})},
    )
    wanted = {
        (name, sequence)
        for name, entry in routing["policy"]["route_maps"].items()
        for sequence in entry.get("rules") or (_EMPTY_MAP,)
    }
    yield from _compared("route-map rules", set(_MAP.findall(text)), wanted)


def _compared(what: str, found: set[Any], wanted: set[Any]) -> Iterator[str]:
    if missing := wanted - found:
        yield f"vtysh: {what} missing: {sorted(missing)[:5]}"
    if extra := found - wanted:
        yield f"vtysh: {what} nobody asked for: {sorted(extra)[:5]}"


def _host_files(live: LiveLab, document: Json) -> Iterator[str]:
    name = document["system"].get("hostname", "millrace")
    path = live.directory / "host-root" / "etc" / "hostname"
    found = path.read_text().strip() if path.exists() else None
    if found != name:
        yield f"{path.name}: {found!r}, not {name!r}"
