"""Everything that observation reads from VPP, in two round trips. It knows no kind of object.

Each kind declares its requests (``VppObject.tables`` and ``of_interface``). The first round trip sends the
requests for tables, the second those for single interfaces. A request that several kinds make is sent once. A
VPP without one of the plugins simply has none of its objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

from vpp_config.client import Reply, Request, VppClient, request
from vpp_config.errors import VppError

T = TypeVar("T")
ALL = 0xFFFFFFFF
"""Means all interfaces, or all access lists, in a request."""
INTERFACES = request("sw_interface_dump", sw_if_index=ALL)
_ADMIN_UP, _LINK_UP = 1, 2


class Asking(Protocol):
    """A kind of object, as far as reading is concerned: the class, not one of its objects."""

    @property
    def tables(self) -> tuple[Request, ...]:
        """The requests that it makes once."""

    def of_interface(self, row: InterfaceRow) -> tuple[Request, ...]:
        """The requests that it makes for each of our interfaces."""


@dataclass(frozen=True)
class InterfaceRow:
    """One interface as VPP describes it; ``name`` is ours, empty where it has no tag of ours."""

    index: int
    name: str
    vpp_name: str
    parent_index: int
    vlan_id: int
    mac: str
    up: bool
    link_mtu: int
    l3_mtu: int
    linked: bool = False
    """It has a link."""


class Dumps:
    """VPP's answers. Indexes are VPP's; names are ours, without the prefix."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.rows: list[InterfaceRow] = []
        self._answers: dict[Any, Reply | None] = {}
        self._derived: dict[Any, Any] = {}

    @classmethod
    def read(cls, client: VppClient, prefix: str, generation: int, kinds: Sequence[Asking]) -> Dumps:
        """Send the kinds' requests to VPP. Raises ``VppUnavailable``, ``VppApiError``."""
        dumps = cls(prefix)
        dumps._ask(client, generation, [INTERFACES, *(item for kind in kinds for item in kind.tables)])
        dumps.rows = [_row(reply, prefix) for reply in dumps.table(INTERFACES)]
        ours = dumps.tagged_interfaces()
        dumps._ask(
            client,
            generation,
            [item for row in ours for kind in kinds for item in kind.of_interface(row)],
        )
        return dumps

    def _ask(self, client: VppClient, generation: int, requests: Iterable[Request]) -> None:
        """One round trip for all requests that VPP knows and that were not sent yet."""
        wanted = {identity(item): item for item in requests}
        supported = {name: client.supports(name) for name in {item.name for item in wanted.values()}}
        known = {
            key: item for key, item in wanted.items() if supported[item.name] and key not in self._answers
        }
        answers = client.pipeline(list(known.values()), generation=generation)
        for key, answer in zip(known, answers, strict=True):
            if isinstance(answer, VppError):
                raise answer
            self._answers[key] = answer

    def table(self, asked: Request) -> Sequence[Reply]:
        """The details of the answer to a dump; none where VPP does not know the message."""
        return self._answers.get(identity(asked)) or ()

    def reply(self, asked: Request) -> Reply | None:
        """The reply to a request other than a dump; None where VPP does not know the message."""
        return self._answers.get(identity(asked))

    def our_name(self, tag: str) -> str | None:
        """The name in a tag of ours; None for any other tag."""
        return tag.removeprefix(self.prefix) if tag.startswith(self.prefix) and tag != self.prefix else None

    def by_name(self, details: Iterable[Reply]) -> dict[str, Reply]:
        """Our name -> the object with it in its ``tag``; of several under one tag, the first."""
        found: dict[str, Reply] = {}
        for item in details:
            name = self.our_name(item.tag)
            if name is not None:
                found.setdefault(name, item)
        return found

    def derived(self, make: Callable[[Dumps], T]) -> T:
        """The result of ``make`` on these dumps, computed once."""
        if make not in self._derived:
            self._derived[make] = make(self)
        made: T = self._derived[make]
        return made

    @cached_property
    def _by_name(self) -> dict[str, InterfaceRow]:
        by_name: dict[str, InterfaceRow] = {}
        for row in self.rows:
            if row.name:
                by_name.setdefault(row.name, row)
        return by_name

    def tagged_interfaces(self) -> list[InterfaceRow]:
        """Our interfaces; of several under one tag, the first."""
        return list(self._by_name.values())

    @cached_property
    def names(self) -> dict[int, str]:
        """VPP's index -> our name, of our interfaces."""
        return {row.index: name for name, row in self._by_name.items()}

    @cached_property
    def indexes(self) -> Mapping[str, int]:
        """Our name -> VPP's index, of our interfaces."""
        return {name: row.index for name, row in self._by_name.items()}

    def is_duplicate(self, row: InterfaceRow) -> bool:
        """Whether another interface comes first under the same tag of ours."""
        return bool(row.name) and self._by_name[row.name] is not row


def identity(item: Request) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """Equal for requests that ask the same."""
    return item.name, tuple(sorted(item.fields.items()))


def _row(reply: Reply, prefix: str) -> InterfaceRow:
    tag = reply.tag
    return InterfaceRow(
        index=reply.sw_if_index,
        name=tag.removeprefix(prefix) if tag.startswith(prefix) else "",
        vpp_name=reply.interface_name,
        parent_index=reply.sup_sw_if_index,
        vlan_id=reply.sub_outer_vlan_id if reply.sub_number_of_tags == 1 else 0,
        mac=str(reply.l2_address),
        up=bool(reply.flags & _ADMIN_UP),
        link_mtu=reply.link_mtu,
        l3_mtu=reply.mtu[0],
        linked=bool(reply.flags & _LINK_UP),
    )
