"""The live router: all backends together, observed in parallel, planned in phases, changed step by step."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any

from appliance.config.document import RouterConfig
from appliance.engine.backend import PHASES, BackendUnavailable, Phase, SomeBackend, Step
from appliance.engine.records import PlannedStep, impacts

log = logging.getLogger(__name__)

Desired = Mapping[str, object]
"""Backend name to its desired state, as compiled."""
Observed = Mapping[str, object]
"""Backend name to its observed state."""
Plan = tuple[PlannedStep, ...]
StepHook = Callable[[int, Step], None]
"""Called with the index and the step after each applied step; an error it raises counts as a failure of that
step."""
Proceed = Callable[[], None]
"""Called between two steps and while waiting; an error it raises (Overtaken) ends the work there."""

_ASKED_EVERY_S = 0.1
_DOWNWARD: tuple[Phase, ...] = ("withdraw", "detach", "delete")


class StepFailed(Exception):
    """Applying stopped at ``planned``; the cause is chained. ``begun``: the step's apply had returned."""

    def __init__(self, planned: PlannedStep, begun: bool) -> None:
        self.planned, self.begun = planned, begun
        super().__init__(planned.step.summary)


class Overtaken(Exception):
    """Something more urgent is due: the work was left as it was, and nothing was undone."""


def unhindered() -> None:
    """The Proceed of work that nothing overtakes."""


@dataclass(frozen=True)
class Looking:
    """An observation under way.

    Each future is ``taken`` once its answer is used: until then a later observation gets the same answer.
    """

    futures: dict[str, Future[Any]]
    taken: Callable[[str, Future[Any]], None]

    def result(self, proceed: Proceed = unhindered) -> Observed:
        """Wait for all backends. Raises the first one's error, in the order of backends."""
        states = self.each(proceed)
        for state in states.values():
            if isinstance(state, Exception):
                raise state
        return states

    def each(self, proceed: Proceed = unhindered) -> dict[str, Any]:
        """Wait for all backends: the state of each, or the Exception it raised instead."""
        while wait(self.futures.values(), _ASKED_EVERY_S).not_done:
            proceed()
        return {name: self._take(name) for name in self.futures}

    def within(self, timeout_s: float) -> dict[str, Any]:
        """As ``each``; a backend without an answer after ``timeout_s`` is unavailable, and still asked."""
        wait(self.futures.values(), timeout_s)
        return {
            name: self._take(name) if future.done() else BackendUnavailable(name, "does not answer in time")
            for name, future in self.futures.items()
        }

    def abandon(self) -> None:
        """Nobody wants the answer."""
        for name, future in self.futures.items():
            future.add_done_callback(partial(self.taken, name))

    def _take(self, name: str) -> Any:
        future = self.futures[name]
        self.taken(name, future)
        return future.exception() or future.result()


class Live:
    """The backends, from the outermost (the data plane) to the innermost (routing, host files)."""

    def __init__(self, backends: Sequence[SomeBackend], step_hook: StepHook | None = None) -> None:
        self.backends = tuple(backends)
        self._hook = step_hook
        self._pool = ThreadPoolExecutor(max(1, len(self.backends)), thread_name_prefix="observe")
        self._last: dict[str, Any] = {}
        self._under_way: dict[str, Future[Any]] = {}
        self._guard = threading.Lock()

    def close(self) -> None:
        """Stop the observing threads; the router is left alone."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def look(self, names: Iterable[str] | None = None) -> Looking:
        """Begin to observe all backends, or those of ``names``.

        An observation still under way is joined: a backend that hangs occupies one thread, not all.
        """
        wanted = {backend.name for backend in self.backends} if names is None else set(names)
        with self._guard:
            for backend in self.backends:
                if backend.name in wanted and backend.name not in self._under_way:
                    self._under_way[backend.name] = self._pool.submit(self._observe, backend)
            futures = {
                backend.name: self._under_way[backend.name]
                for backend in self.backends
                if backend.name in wanted
            }
        return Looking(futures, self._taken)

    def _taken(self, name: str, future: Future[Any]) -> None:
        with self._guard:
            if self._under_way.get(name) is future:
                del self._under_way[name]

    def _observe(self, backend: SomeBackend) -> object:
        """Unchanged state is returned as the same object: what a backend derived from it stays cached."""
        state, last = backend.observe(), self._last.get(backend.name)
        if state == last:
            return last
        self._last[backend.name] = state
        return state

    def observe(self, proceed: Proceed = unhindered) -> Observed:
        """Live state of all backends. Raises BackendUnavailable."""
        return self.look().result(proceed)

    def plan(self, desired: Desired, observed: Observed) -> Plan:
        """Steps of all backends in the order in which they are applied. Pure.

        On the way down inner backends go first, on the way up outer ones do. A backend that either side does
        not mention is left alone.
        """
        steps = {
            backend.name: [
                PlannedStep(backend, step)
                for step in backend.plan(desired[backend.name], observed[backend.name])
            ]
            for backend in self.backends
            if backend.name in desired and backend.name in observed
        }
        ordered: list[PlannedStep] = []
        for phase in PHASES:
            names = [backend.name for backend in self.backends if backend.name in steps]
            for name in reversed(names) if phase in _DOWNWARD else names:
                ordered += [planned for planned in steps[name] if planned.step.phase == phase]
        return tuple(ordered)

    def diff(self, plan: Plan, desired: Desired, observed: Observed) -> tuple[str, ...]:
        """The difference in the words of the backends that have steps in the plan."""
        concerned = {planned.backend.name for planned in plan}
        return tuple(
            line
            for backend in self.backends
            if backend.name in concerned
            for line in backend.diff(desired[backend.name], observed[backend.name])
        )

    def apply(
        self,
        plan: Plan,
        applied: list[PlannedStep],
        proceed: Proceed = unhindered,
        between: Proceed = unhindered,
    ) -> None:
        """Apply a plan in order; each applied step is appended to ``applied``. Raises StepFailed.

        ``between`` is called within steps that backends apply in portions: an error it raises fails the step.
        """
        for planned in plan:
            proceed()
            made = False
            try:
                planned.backend.apply_in_portions(planned.step, between)
                made = True
                applied.append(planned)
                if self._hook is not None:
                    self._hook(len(applied) - 1, planned.step)
            except Exception as error:
                raise StepFailed(planned, made) from error

    def undo(self, applied: Sequence[PlannedStep]) -> list[str]:
        """Undo steps, last first. One that cannot be undone does not stop the rest; returns what failed."""
        failures = []
        for planned in reversed(applied):
            try:
                planned.backend.undo(planned.step)
            except Exception as error:
                failures.append(f"{planned.step.undo_summary}: {error}")
        return failures

    def converge(self, desired: Desired, observed: Observed, proceed: Proceed = unhindered) -> list[str]:
        """Bring the router to ``desired`` as far as possible; returns what failed.

        A backend whose step fails is not tried further, since later steps depend on earlier ones.
        """
        failures: dict[str, str] = {}
        for planned in self.plan(desired, observed):
            proceed()
            if planned.backend.name in failures:
                continue
            try:
                planned.backend.apply(planned.step)
            except Exception as error:
                failures[planned.backend.name] = f"{planned.step.summary}: {error}"
        return list(failures.values())

    def settle(
        self,
        desired: Desired,
        applied: list[PlannedStep],
        settle_s: float,
        restart_s: float,
        proceed: Proceed = unhindered,
    ) -> tuple[Observed, Plan]:
        """Observe until no steps are left, or ``settle_s`` is over: then the steps that are left.

        The kernel and FRR need a moment for what they do on their own. After a step that restarted a program,
        wait for it up to ``restart_s`` and apply again what the restart removed.
        """
        restarts = any(impact.startswith("restarts ") for impact in impacts(applied))
        started = time.monotonic()
        rounds, pause_s = 0, 0.01
        while True:
            elapsed_s = time.monotonic() - started
            try:
                observed = self.observe(proceed)
            except BackendUnavailable:
                if not restarts or elapsed_s > restart_s:
                    raise
            else:
                left = self.plan(desired, observed)
                if not left:
                    return observed, left
                if restarts and rounds < 3:
                    rounds += 1
                    self.apply(left, applied, proceed)
                    started = time.monotonic()
                    continue
                if elapsed_s > settle_s:
                    return observed, left
            proceed()
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, 0.5)

    def generations(self) -> dict[str, int]:
        """How often the programs behind the backends were observed to restart."""
        return {backend.name: backend.generation for backend in self.backends}

    def may_reopen(self, before: RouterConfig, after: RouterConfig) -> bool:
        """Whether ``reopen`` may have work; asks no program."""
        return any(backend.may_reopen(before, after) for backend in self.backends)

    def reopen(self, before: RouterConfig, after: RouterConfig) -> list[str]:
        """Have the backends set up again what only the document before kept closed; returns what they did.

        Raises nothing: what cannot be opened stays as it is, and the log says why.
        """
        said: list[str] = []
        for backend in self.backends:
            try:
                said += backend.reopen(before, after)
            except Exception as error:
                log.warning("%s: what was closed cannot be opened again: %s", backend.name, error)
        return said

    def committed(self, desired: Desired) -> list[str]:
        """Tell the backends that a revision was recorded; returns what failed."""
        failures = []
        for backend in self.backends:
            if backend.name not in desired:
                continue
            try:
                backend.committed(desired[backend.name])
            except Exception as error:
                failures.append(f"{backend.name}: {error}")
        return failures
