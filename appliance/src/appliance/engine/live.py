"""The live router: all backends together, observed in parallel, planned over phases, changed step by step."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from appliance.engine.backend import PHASES, Backend, BackendUnavailable, Phase, Step
from appliance.engine.records import PlannedStep, impacts

Desired = Mapping[str, Any]
"""Backend name to the state it has to have, as the compiler gives it."""
Observed = Mapping[str, Any]
"""Backend name to the state it has."""
Plan = tuple[PlannedStep, ...]
StepHook = Callable[[int, Step], None]
"""Told the index and the step after each applied step; what it raises counts as a failure of that step."""

_DOWNWARD: tuple[Phase, ...] = ("withdraw", "detach", "delete")


class StepFailed(Exception):
    """Applying stopped at ``planned``; the cause is chained. ``begun`` says that its apply had returned."""

    def __init__(self, planned: PlannedStep, begun: bool) -> None:
        self.planned, self.begun = planned, begun
        super().__init__(planned.step.summary)


@dataclass(frozen=True)
class Looking:
    """An observation under way."""

    futures: dict[str, Future[Any]]

    def result(self) -> Observed:
        """Wait for all backends. Raises the first one's error, in the order of backends."""
        for future in self.futures.values():
            future.exception()
        return {name: future.result() for name, future in self.futures.items()}

    def each(self) -> dict[str, Any]:
        """Wait for all backends: the state of each, or the Exception it raised instead."""
        return {name: future.exception() or future.result() for name, future in self.futures.items()}


class Live:
    """The backends, from the outermost (the data plane) to the innermost (routing, host files)."""

    def __init__(self, backends: Sequence[Backend], step_hook: StepHook | None = None) -> None:
        self.backends = tuple(backends)
        self._hook = step_hook
        self._pool = ThreadPoolExecutor(max(1, len(self.backends)), thread_name_prefix="observe")
        self._last: dict[str, Any] = {}

    def close(self) -> None:
        """Stop the observing threads; the router is left alone."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def look(self) -> Looking:
        """Begin to observe all backends."""
        return Looking({backend.name: self._pool.submit(self._observe, backend) for backend in self.backends})

    def _observe(self, backend: Backend) -> Any:
        """Unchanged state is the same object again: what a backend has derived from it stays known."""
        state, last = backend.observe(), self._last.get(backend.name)
        if state == last:
            return last
        self._last[backend.name] = state
        return state

    def observe(self) -> Observed:
        """Live state of all backends. Raises BackendUnavailable."""
        return self.look().result()

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

    def diff(self, backend_name: str, desired: Desired, observed: Observed) -> tuple[str, ...]:
        """A backend's own text of the difference; empty when it has none."""
        for backend in self.backends:
            text = getattr(backend, "diff", None)
            if backend.name == backend_name and text is not None:
                return tuple(text(desired[backend_name], observed[backend_name]))
        return ()

    def apply(self, plan: Plan, applied: list[PlannedStep]) -> None:
        """Apply a plan in order; ``applied`` grows by each step that was made. Raises StepFailed."""
        for planned in plan:
            made = False
            try:
                planned.backend.apply(planned.step)
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

    def converge(self, desired: Desired, observed: Observed) -> list[str]:
        """Bring the router to ``desired`` as far as it goes; returns what failed.

        A backend whose step fails is not tried any further, since later steps lean on earlier ones.
        """
        failures: dict[str, str] = {}
        for planned in self.plan(desired, observed):
            if planned.backend.name in failures:
                continue
            try:
                planned.backend.apply(planned.step)
            except Exception as error:
                failures[planned.backend.name] = f"{planned.step.summary}: {error}"
        return list(failures.values())

    def settle(
        self, desired: Desired, applied: list[PlannedStep], settle_s: float, restart_s: float
    ) -> tuple[Observed, Plan]:
        """Observe until nothing is left to do, or ``settle_s`` is over: then what is left.

        What the kernel and FRR do on their own takes them a moment. Where a step restarted a program, it is
        waited for up to ``restart_s`` and what the restart took away is applied again.
        """
        restarts = any(impact.startswith("restarts ") for impact in impacts(applied))
        started = time.monotonic()
        rounds, pause_s = 0, 0.01
        while True:
            elapsed_s = time.monotonic() - started
            try:
                observed = self.observe()
            except BackendUnavailable:
                if not restarts or elapsed_s > restart_s:
                    raise
            else:
                left = self.plan(desired, observed)
                if not left:
                    return observed, left
                if restarts and rounds < 3:
                    rounds += 1
                    self.apply(left, applied)
                    started = time.monotonic()
                    continue
                if elapsed_s > settle_s:
                    return observed, left
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, 0.5)

    def generations(self) -> dict[str, int]:
        """How often the programs behind the backends were seen to restart."""
        return {backend.name: int(getattr(backend, "generation", 0)) for backend in self.backends}

    def committed(self, desired: Desired) -> list[str]:
        """Tell the backends that a revision was recorded; returns what failed."""
        failures = []
        for backend in self.backends:
            told = getattr(backend, "committed", None)
            if told is None or backend.name not in desired:
                continue
            try:
                told(desired[backend.name])
            except Exception as error:
                failures.append(f"{backend.name}: {error}")
        return failures
