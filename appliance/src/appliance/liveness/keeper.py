"""The state of the document's objects, read once for all who ask within a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from appliance.liveness.declaration import AnyLiveness, every_liveness
from appliance.liveness.rota import Rota
from appliance.state.object_state import ObjectState

if TYPE_CHECKING:
    from appliance.agent.router import Router

_FRESH_S = 1.0
"""An answer of this age is given again."""


@dataclass(frozen=True)
class _Kept:
    objects: tuple[ObjectState, ...]
    config: object
    read_s: float


class Keeper:
    """Thread-safe: who asks while another reads waits for it."""

    def __init__(self, router: Router, clock: Callable[[], float] = time.monotonic) -> None:
        self._router, self._clock = router, clock
        self._kinds = {one.kind: one for one in every_liveness()}
        self._rotas: dict[str, Rota[Any, Any]] = {kind: Rota() for kind in self._kinds}
        self._locks = {kind: threading.Lock() for kind in self._kinds}
        self._kept: dict[str, _Kept] = {}

    def of(self, kind: str) -> tuple[ObjectState, ...]:
        """The objects of a kind, in the document's order. Raises MillraceError if they cannot be read."""
        config = self._router.engine.running_config
        with self._locks[kind]:
            kept = self._kept.get(kind)
            if kept is None or kept.config is not config or self._clock() - kept.read_s > _FRESH_S:
                found = tuple(self._read(self._kinds[kind]))
                kept = self._kept[kind] = _Kept(found, config, self._clock())
            return kept.objects

    def everything(self) -> tuple[ObjectState, ...]:
        """The objects of all kinds."""
        return tuple(one for kind in self._kinds for one in self.of(kind))

    def _read(self, liveness: AnyLiveness) -> tuple[ObjectState, ...]:
        config = self._router.engine.running_config
        if not liveness.concerns(config):
            return ()
        reading = liveness.reads(self._router, self._rotas[liveness.kind], config)
        return tuple(liveness.judges(config, reading))
