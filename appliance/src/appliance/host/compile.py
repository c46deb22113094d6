"""From the document's system part to the host's files. Pure.

Every value comes from a closed alphabet without line breaks, so none can break out of its line.
"""

from __future__ import annotations

from collections.abc import Iterator

from appliance.features.system.model import System
from appliance.host.state import (
    BANNER,
    CHRONY,
    HOSTNAME,
    HOSTS,
    LOCALTIME,
    MARK,
    RESOLV_CONF,
    TIMEZONE,
    HostEntry,
    HostState,
)
from appliance.hosts_file import hosts_file


def compile_host(system: System) -> HostState:
    """The files; one the document does not ask for is absent."""
    return HostState({entry.path: entry for entry in _entries(system)})


def _entries(system: System) -> Iterator[HostEntry]:
    yield HostEntry(HOSTNAME, "file", f"{system.hostname}\n")
    yield HostEntry(HOSTS, "file", hosts_file(system.hostname, system.domain))
    yield HostEntry(TIMEZONE, "file", f"{system.timezone}\n")
    yield HostEntry(LOCALTIME, "link", f"/usr/share/zoneinfo/{system.timezone}")
    # Without servers of its own the document leaves the file to the programs that know DHCP's answer.
    if system.dns_servers:
        search = [f"search {system.domain}\n"] if system.domain is not None else []
        servers = [f"nameserver {address}\n" for address in system.dns_servers]
        yield HostEntry(RESOLV_CONF, "file", MARK + "".join(search + servers))
    if system.banner:
        yield HostEntry(BANNER, "file", f"{system.banner}\n")
    if system.ntp_servers:
        yield HostEntry(CHRONY, "file", "".join(f"server {server} iburst\n" for server in system.ntp_servers))
