"""The host's files that follow from the document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

MARK = "# Written by Millrace from its configuration document.\n"
"""First line that marks as ours a file that others also write."""


@dataclass(frozen=True)
class HostEntry:
    """A file's content, or a symbolic link's target. ``path`` is below the host's root, without its slash."""

    path: str
    kind: Literal["file", "link"]
    content: str

    @property
    def ours(self) -> bool:
        """Whether this program wrote it: some paths are always ours, others only with the mark."""
        return self.path not in SHARED or (self.kind == "file" and self.content.startswith(MARK))


HOSTNAME = "etc/hostname"
HOSTS = "etc/hosts"
RESOLV_CONF = "etc/resolv.conf"
TIMEZONE = "etc/timezone"
LOCALTIME = "etc/localtime"
BANNER = "etc/issue.d/millrace.issue"
CHRONY = "etc/chrony/sources.d/millrace.sources"

MANAGED = (HOSTNAME, HOSTS, RESOLV_CONF, TIMEZONE, LOCALTIME, BANNER, CHRONY)
"""Every path that this program may write."""

SHARED = frozenset([RESOLV_CONF])
"""Paths that are left alone unless the document asks for them."""

SERVES = {
    HOSTNAME: "/system/hostname",
    HOSTS: "/system/hostname",
    RESOLV_CONF: "/system/dns_servers",
    TIMEZONE: "/system/timezone",
    LOCALTIME: "/system/timezone",
    BANNER: "/system/banner",
    CHRONY: "/system/ntp_servers",
}
"""The part of the document each path follows from."""


class HostState(Mapping[str, HostEntry]):
    """Entries by path."""

    def __init__(self, entries: Mapping[str, HostEntry]) -> None:
        self._entries = dict(entries)

    def __getitem__(self, key: str) -> HostEntry:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
