"""The fake's policer calls, and which packets to Linux are policed."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from vpp_config.fake import tables as t
from vpp_config.fake.tables import RefusedError, Tables

_ALL = 0xFFFFFFFF


class PolicerCalls:
    """Handlers of the messages about policers, by message name."""

    def __init__(self, held: Tables) -> None:
        self._held = held

    def policer_add(self, name: str, infos: dict[str, Any]) -> Mapping[str, Any]:
        """Under a free name."""
        if any(name == known for known, _ in self._held.policers.values()):
            raise RefusedError(t.VALUE_EXIST)
        if not infos["cir"]:
            raise RefusedError(t.INVALID_VALUE)
        return {"policer_index": self._held.add_policer(name, infos)}

    def policer_update(self, policer_index: int, infos: dict[str, Any]) -> None:
        """Changes its settings in place."""
        if policer_index not in self._held.policers:
            raise RefusedError(t.NO_SUCH_ENTRY)
        if not infos["cir"]:
            raise RefusedError(t.INVALID_VALUE)
        self._held.policers[policer_index] = (self._held.policers[policer_index][0], infos)

    def policer_del(self, policer_index: int) -> None:
        """VPP does not check whether it is in use; here, deleting one in use is an error of the caller."""
        if policer_index not in self._held.policers:
            raise RefusedError(t.NO_SUCH_ENTRY)
        bound = [index for known in self._held.punt_policed.values() for index in known]
        assert policer_index not in bound, "VPP would police by a policer that is gone"
        del self._held.policers[policer_index]

    def policer_dump_v2(self, policer_index: int) -> list[SimpleNamespace]:
        """One policer, or all; the answer does not hold the index."""
        return [
            SimpleNamespace(name=name, **settings)
            for index, (name, settings) in sorted(self._held.policers.items())
            if policer_index in (index, _ALL)
        ]

    def ip_punt_police(self, policer_index: int, is_add: bool, is_ip6: bool) -> None:
        """It has to be unbound as many times as it was bound; once more does no harm."""
        if is_add:
            self._held.punt_policed[is_ip6].append(policer_index)
        elif self._held.punt_policed[is_ip6]:
            self._held.punt_policed[is_ip6].pop()
