"""DNS and time servers that DHCP or a router advertisement gave.

networkd knows them and writes no file of its own. The data comes from the network: only addresses and host
names are taken over. A configuration document that names servers wins.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from appliance.firstboot.host_files import HostFile, resolv_conf
from appliance.firstboot.instance import load
from appliance.firstboot.layout import Layout
from appliance.firstboot.management_change import document_names_resolvers
from appliance.firstboot.placing import put
from appliance.programs import ProgramFailed, Programs, must

_NAME = re.compile(r"(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
                   r"(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*\.?")  # fmt: skip
_CHRONY = "run/chrony-dhcp/millrace.sources"
_MAX_NTP = 8


@dataclass(frozen=True)
class Learned:
    """What the management network announced."""

    dns: tuple[str, ...]
    ntp: tuple[str, ...]
    domains: tuple[str, ...]


def learned(description: Mapping[str, Any]) -> Learned:
    """From ``networkctl --json=short status DEVICE``. Pure."""
    servers = tuple(dict.fromkeys(_addresses(description.get("DNS"))))
    clocks = tuple(
        dict.fromkeys([*_addresses(description.get("NTP")), *_names(description.get("NTP"), "Server")])
    )
    domains = tuple(dict.fromkeys(_names(description.get("SearchDomains"), "Domain")))
    return Learned(servers, clocks[:_MAX_NTP], domains[:6])


def write_resolvers(layout: Layout, programs: Programs) -> None:
    """Set resolv.conf and chrony's sources to what the management network announces. Raises ProgramFailed."""
    instance = load(layout.instance.read_bytes())
    device = json.loads(layout.management.read_bytes())["device"]
    if device is None:
        return
    said = learned(json.loads(must(programs, ["networkctl", "--json=short", "status", "--", device])))
    if not document_names_resolvers(layout):
        search = _search((layout.etc / "hosts").read_text(), instance.search_domains)
        text = resolv_conf(instance.dns_servers or said.dns, search or said.domains)
        _update(layout, HostFile("etc/resolv.conf", text))
    if _update(layout, HostFile(_CHRONY, "".join(f"server {name} iburst\n" for name in said.ntp))):
        try:
            programs.run(["chronyc", "reload", "sources"])
        except ProgramFailed:
            # A chronyd that does not run yet reads the file when it starts.
            return


def _search(hosts: str, seeded: tuple[str, ...]) -> tuple[str, ...]:
    """The seed's domains, whose first is in the router's full name until a later document names another."""
    for line in hosts.splitlines():
        if line.startswith("127.0.1.1 "):
            own = line.split()[1].partition(".")[2]
            return (own,) if own and own not in seeded[:1] else seeded
    return seeded


def _update(layout: Layout, file: HostFile) -> bool:
    place = layout.root / file.path
    if place.exists() and place.read_text() == file.content:
        return False
    put(layout.root, file)
    return True


def _addresses(entries: Any) -> Iterator[str]:
    """systemd gives an address as its bytes."""
    for entry in entries if isinstance(entries, list) else []:
        octets = entry.get("Address") if isinstance(entry, Mapping) else None
        if isinstance(octets, list) and len(octets) in (4, 16):
            try:
                address = ipaddress.ip_address(bytes(octets))
            except (ValueError, TypeError):
                continue
            # A link-local resolver would need its interface named; resolv.conf takes it with a zone only.
            if not (address.is_link_local or address.is_unspecified or address.is_multicast):
                yield str(address)


def _names(entries: Any, key: str) -> Iterator[str]:
    for entry in entries if isinstance(entries, list) else []:
        name = entry.get(key) if isinstance(entry, Mapping) else None
        if isinstance(name, str) and _NAME.fullmatch(name):
            yield name.rstrip(".")
