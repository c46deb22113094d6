"""The order of steps: an object exists before others name it, and is removed after them."""

from __future__ import annotations

from typing import Any, NamedTuple

from frr_config.line import Holders
from frr_config.natural import natural
from frr_config.protocols import PROTOCOLS
from frr_config.step import Phase
from frr_config.syntax import Kind, ObjectKey, Ranker
from frr_config.tables import FOREIGN

_WITHDRAWN, _CHANGED, _UNNAMED = range(3)
_ANNOUNCED_AT = {
    kind: at for at, kind in enumerate(kind for protocol in PROTOCOLS for kind in protocol.kinds)
} | {FOREIGN: 1 << 16}
_WITHDRAWN_AT = {
    kind: at for at, kind in enumerate(kind for protocol in PROTOCOLS for kind in reversed(protocol.kinds))
} | {FOREIGN: 1 << 16}
_NAMED = frozenset(kind for protocol in PROTOCOLS if protocol.named_by_others for kind in protocol.kinds)


class Place(NamedTuple):
    """The position of a step; positions compare in order of execution."""

    at: tuple[Any, ...]
    phase: Phase


class Order:
    """The order of changes between two configurations."""

    def __init__(self, before: Holders, after: Holders) -> None:
        self._before, self._after = before, after
        self._rankers: dict[Kind, Ranker] = {}

    def place(self, key: ObjectKey, before: Holders, after: Holders) -> Place:
        """The position of one object's change; ``before`` and ``after`` are its own lines."""
        kind = key.kind
        rank = self._rank(key, removed=not after)
        if kind in _NAMED:
            if rank[0] or (not after and kind.ranker is None):
                return Place((_UNNAMED, _WITHDRAWN_AT[kind], *rank), "announce")
            return Place((_CHANGED, _ANNOUNCED_AT[kind], *rank), "announce")
        if not after or (kind.withdrawn_by_less and after.items() <= before.items()):
            return Place((_WITHDRAWN, _WITHDRAWN_AT[kind], *rank), "withdraw")
        return Place((_CHANGED, _ANNOUNCED_AT[kind], *rank), "announce")

    def _rank(self, key: ObjectKey, *, removed: bool) -> tuple[Any, ...]:
        """A ranked kind's first element tells whether nothing names the object any more."""
        if key.kind.ranker is None:
            return (0, natural(key.name), natural(key.root))
        if key.kind not in self._rankers:
            self._rankers[key.kind] = key.kind.ranker(self._before, self._after)
        return self._rankers[key.kind](key, removed)
