"""The router as last observed, and the lock that prevents planning against it while it changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from appliance.engine.live import Live, Looking, Observed
from appliance.errors import Conflict

_PATIENCE_S = 1.0
"""How long a preview waits for a changing router; then it takes the last observation."""
_PROBE_S = 0.2
"""How long a backend that was down is given to say that it is back."""


@dataclass(frozen=True)
class Seen:
    """One observation of the router. Replaced as a whole, so that readers never wait."""

    drift: tuple[str, ...] = ()
    """Summaries of the steps that lead back to the last commit, and of the obstacles to them."""
    health: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Backend name to ``state`` (up, down, unknown) and ``detail``, a sentence."""
    waiting: tuple[str, ...] = ()
    """Backends that are not yet back at the running revision, after a rollback or a crash."""


class View:
    """Observes the live router."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self.moving = threading.Lock()
        """Held by the thread that changes or observes the router."""
        self.seen = Seen(
            health={backend.name: _entry("unknown", "not yet seen") for backend in live.backends}
        )
        self._last: Observed | None = None
        self._generations = live.generations()
        self._lost = {backend.name for backend in live.backends}

    @contextmanager
    def looking(self) -> Iterator[Callable[[], Observed]]:
        """Begin to observe; the yielded function returns the outcome, or raises BackendUnavailable.

        During a long commit the outcome is the last observation before it.
        """
        last = self._last
        if not self.moving.acquire(timeout=_PATIENCE_S if last is not None else -1):
            assert last is not None
            yield lambda: last
            return
        try:
            looking = self._live.look()
        except BaseException:
            self.moving.release()
            raise
        # Held only while the router is observed: the caller's own work may take longer, and a rollback must
        # not wait for it.
        self._release_when_done(looking)
        yield looking.result

    def _release_when_done(self, looking: Looking) -> None:
        guard, left = threading.Lock(), len(looking.futures)

        def done(_future: object) -> None:
            nonlocal left
            with guard:
                left -= 1
                last = left == 0
            if last:
                try:
                    self.keep(looking.each())
                finally:
                    self.moving.release()

        for future in looking.futures.values():
            future.add_done_callback(done)

    @contextmanager
    def taking(self, wait_s: float, anyway: bool) -> Iterator[None]:
        """Hold ``moving``. If it cannot be had in time, raise Conflict, or with ``anyway`` go on without it.

        In that case another thread still observes a backend that hangs: a new observation waits for the same
        one, and does not touch that backend before it ends.
        """
        held = self.moving.acquire(timeout=wait_s)
        if not held and not anyway:
            raise Conflict("the router is being observed")
        try:
            yield
        finally:
            if held:
                self.moving.release()

    def back(self) -> bool:
        """Whether a backend that was down when last observed answers; asks no other."""
        down = [name for name, entry in self.seen.health.items() if entry["state"] == "down"]
        if not down:
            return False
        states = self._live.look(down).within(_PROBE_S)
        return any(not isinstance(state, Exception) for state in states.values())

    def keep(self, states: Mapping[str, Any]) -> None:
        """Remember a complete observation."""
        if not any(isinstance(state, Exception) for state in states.values()):
            self._last = dict(states)

    def restarted(self) -> bool:
        """Whether a backend was seen to restart since all were last as desired. Observes nothing."""
        return self._live.generations() != self._generations

    def returned(self, states: Mapping[str, Any]) -> set[str]:
        """Backends that are up, and were down or restarted since they were last as desired."""
        down = {name for name, state in states.items() if isinstance(state, Exception)}
        self._lost |= down
        generations = self._live.generations()
        restarted = {name for name in generations if generations[name] != self._generations[name]}
        return (self._lost | restarted) - down

    def as_it_should_be(self, states: Mapping[str, Any]) -> None:
        """All backends that answered are as the running document says."""
        self._lost = {name for name, state in states.items() if isinstance(state, Exception)}
        self._generations = self._live.generations()

    def publish(
        self, drift: tuple[str, ...], states: Mapping[str, Any], waiting: tuple[str, ...] = ()
    ) -> None:
        """Publish this observation to readers."""
        self.seen = Seen(
            drift,
            {
                name: _entry("down", str(state)) if isinstance(state, Exception) else _entry("up", "answers")
                for name, state in states.items()
            },
            waiting,
        )


def _entry(state: str, detail: str) -> dict[str, str]:
    return {"state": state, "detail": detail}
