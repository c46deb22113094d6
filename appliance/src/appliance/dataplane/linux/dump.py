"""The kernel's state of a namespace, read when objects ask for it. Knows no kind of object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast

from appliance.dataplane.control_plane.policy import ControlPlane
from appliance.dataplane.linux.access import Access, Table
from appliance.dataplane.linux.ruleset_read import Ruleset
from appliance.dataplane.namespace import attributes

OURS = ("millrace:", "millrace ")
"""Prefix of the alias of every link that this program made or renamed."""
_UP = 1
Read = TypeVar("Read")


@dataclass(frozen=True)
class LinkRow:
    """A link, as reported by the kernel."""

    index: int
    name: str
    mtu: int
    up: bool
    alias: str
    known: Mapping[str, Any]
    """The message's attributes."""
    message: Any


class Dump:
    """One observation of a namespace, from inside it. Each table is read once, when first needed."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._tables: dict[type[Table[Any]], Any] = {}

    @cached_property
    def links(self) -> list[LinkRow]:
        """All links."""
        return [_row(message) for message in self._access.route.get_links()]

    @cached_property
    def names(self) -> dict[int, str]:
        """The kernel's index -> name, of all links."""
        return {row.index: row.name for row in self.links}

    @cached_property
    def ours(self) -> dict[int, LinkRow]:
        """The kernel's index -> link, for links that this program made or renamed."""
        return {row.index: row for row in self.links if row.alias.startswith(OURS)}

    @cached_property
    def addresses(self) -> list[Any]:
        """Address messages."""
        return list(self._access.route.get_addr())

    @cached_property
    def ruleset(self) -> Ruleset:
        """Our nftables table."""
        return self._access.filters.ruleset()

    @cached_property
    def control_plane(self) -> ControlPlane | None:
        """What is let in for the router itself; None if nothing guards it."""
        return self._access.control_plane.observe()

    def table(self, kind: type[Table[Read]]) -> Read:
        """The content of a feature's table."""
        if kind not in self._tables:
            self._tables[kind] = self._access.table(kind).observe()
        return cast("Read", self._tables[kind])


def _row(message: Any) -> LinkRow:
    known = attributes(message)
    return LinkRow(
        message["index"],
        known["IFLA_IFNAME"],
        known["IFLA_MTU"],
        bool(message["flags"] & _UP),
        str(known.get("IFLA_IFALIAS") or ""),
        known,
        message,
    )
