"""The benches of the agent: one at a time, within a fixed time, and the results of those that ended.

A bench holds the turn to change the router: commits wait for it, at most LONGEST_S. It removes what it made
in VPP before it gives the turn back; the next agent removes what a killed agent left.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pydantic import ValidationError

from appliance.bench import guard, outcome, rig
from appliance.bench.generator import Generator
from appliance.bench.scenarios import Scenario, room_routes, scenario_of
from appliance.bench.search import Measured
from appliance.bench.trials import Lengths, OutOfTime, Stopped, Trials, at_the_end
from appliance.engine import durable
from appliance.engine.backend import BackendUnavailable
from appliance.engine.clock import SystemClock
from appliance.engine.turns import Turn, Turns
from appliance.errors import Conflict, MillraceError, NotFound
from appliance.state.benches import LONGEST_S, MOST_KEPT, BenchState, BenchWanted

if TYPE_CHECKING:
    from appliance.dataplane.base import DataPlane
    from appliance.dataplane.looking import KernelLooking
    from vpp_config import VppClient

log = logging.getLogger(__name__)
_TURN_WAIT_S = 2.0
"""The router's own check takes its turn for this long, from time to time."""
_END_S = 15.0


@dataclass
class _Running:
    state: BenchState
    scenario: Scenario
    began: float
    cpu: int | None
    foreign: bool
    found: guard.Vpp
    stop: threading.Event = field(default_factory=threading.Event)
    generator: Generator | None = None
    trials: Trials | None = None
    thread: threading.Thread | None = None
    doing: str = "beginning"

    def say(self, doing: str) -> None:
        """Its present activity."""
        self.doing = doing

    def now(self) -> BenchState:
        """Its progress so far."""
        return self.state.model_copy(
            update={
                "doing": self.doing,
                "trials": 0 if self.trials is None else self.trials.count,
                "ran_s": round(time.monotonic() - self.began, 1),
            }
        )


class Benches:
    """Benches whose results are in ``folder``. Safe to use from any thread.

    ``occupied`` says why the router may not be measured now, empty for nothing; ``tables`` gives the numbers
    of the document's tables; ``program`` is the packet generator. ``lend`` keeps from
    others, for its block, so many of the routes that VPP has room for; None: nobody counts them.
    """

    def __init__(
        self,
        folder: Path,
        dataplane: DataPlane,
        turns: Turns,
        occupied: Callable[[], str],
        tables: Callable[[], frozenset[int]],
        program: Path,
        lengths: Lengths | None = None,
        lend: Callable[[int], AbstractContextManager[None]] | None = None,
    ) -> None:
        self._lend = lend
        self._folder, self._dataplane, self._turns = folder, dataplane, turns
        self._occupied, self._tables, self._program = occupied, tables, program
        self._lengths = lengths or Lengths()
        self._lock = threading.Lock()
        self._beginning = False
        self._running: _Running | None = None
        self.may_have_left = not dataplane.kernel_forwards
        """Whether VPP may still hold objects of a bench that is over."""
        durable.make_folder(folder, 0o700)
        self._ended: dict[str, BenchState] = {state.id: state for state in self._found()}
        """The oldest first."""

    def all(self) -> tuple[BenchState, ...]:
        """Every bench, the newest first."""
        with self._lock:
            running = () if self._running is None else (self._running.now(),)
            return tuple(reversed((*self._ended.values(), *running)))

    def start(self, wanted: BenchWanted, author: str) -> BenchState:
        """Begin one; it ends on its own.

        Raises Conflict with the obstacle, RouterUnavailable, BackendUnavailable.
        """
        with self._lock:
            if self._beginning or self._running is not None:
                raise Conflict("a bench runs already: wait for it, or cancel it")
            self._beginning = True
        try:
            return self._begin(wanted, author)
        finally:
            with self._lock:
                self._beginning = False

    def cancel(self, bench: str) -> BenchState:
        """End one, and wait until the router is as before; one that is over stays so. Raises NotFound."""
        with self._lock:
            running = self._running
        if running is not None and running.state.id == bench:
            _end(running)
            assert running.thread is not None
            running.thread.join(_END_S)
        with self._lock:
            if self._running is not None and self._running.state.id == bench:
                return self._running.now()
            if (ended := self._ended.get(bench)) is not None:
                return ended
        raise NotFound(f"there is no bench {bench}")

    def tidy(self) -> None:
        """Remove what another agent's bench left in VPP. Raises BackendUnavailable while VPP is down."""
        with self._lock:
            if self._beginning or self._running is not None:
                return
            # No bench begins during this.
            self._beginning = True
        try:
            self._sweep()
        finally:
            with self._lock:
                self._beginning = False

    def close(self) -> None:
        """End the one that runs."""
        with self._lock:
            running = self._running
        if running is not None:
            _end(running)
            assert running.thread is not None
            running.thread.join(_END_S)

    # Inside.

    def _begin(self, wanted: BenchWanted, author: str) -> BenchState:
        if self._dataplane.kernel_forwards:
            raise Conflict("this router forwards by the Linux kernel: a bench measures VPP")
        if not os.access(self._program, os.X_OK):
            raise Conflict(f"the packet generator is not installed: there is no program {self._program}")
        self._require_unoccupied()
        scenario = scenario_of(wanted)
        found = self._dataplane.look(vpp=partial(guard.look, scenario=scenario), linux=_not_here)
        guard.require_room(found, guard.available_bytes())
        guard.require_load(found, scenario, self._lend is not None)
        cpu = guard.require_cpu(found, frozenset(os.sched_getaffinity(0)), wanted.anyway)
        foreign = guard.require_quiet(*self._traffic(), wanted.anyway)
        with ExitStack() as stack:
            turn = Turn("", "bench", author, "", SystemClock())
            stack.enter_context(self._turns.taking(turn, _TURN_WAIT_S))
            # A bench that began while this waited for its turn.
            self._require_unoccupied()
            running = _Running(self._new(wanted, author), scenario, time.monotonic(), cpu, foreign, found)
            self._write(running.state)
            turn_is_held = stack.pop_all()
            running.thread = threading.Thread(
                target=self._run, args=(running, turn_is_held), name=f"bench-{running.state.id}"
            )
            with self._lock:
                self._running = running
            try:
                running.thread.start()
            except BaseException:
                with self._lock:
                    self._running = None
                turn_is_held.close()
                raise
        return running.now()

    def _traffic(self) -> tuple[dict[str, float], float]:
        """Packets a second of each interface, and the number of seconds they are measured over."""
        before, began = self._dataplane.counters(), time.monotonic()
        time.sleep(self._lengths.quiet_s)
        after, seconds = self._dataplane.counters(), time.monotonic() - began
        return guard.rates(before["interfaces"], after["interfaces"], seconds), seconds

    def _new(self, wanted: BenchWanted, author: str) -> BenchState:
        return BenchState(
            id=secrets.token_hex(6),
            wanted=wanted,
            author=author,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            state="running",
            ran_s=0.0,
            trials=0,
        )

    def _require_unoccupied(self) -> None:
        if why := self._occupied():
            raise Conflict(why)

    def _run(self, running: _Running, turn_is_held: ExitStack) -> None:
        how, why, result = "failed", "", None
        try:
            with turn_is_held:
                turn_is_held.enter_context(self._lent(running))
                clocks = outcome.Clocks(self._dataplane)
                measured = self._measure(running)
            assert running.trials is not None
            running.say("waiting for VPP's counters of its nodes")
            costs = clocks.since(running.trials.received, running.stop)
            result = outcome.result(
                running.scenario,
                measured,
                self._lengths,
                running.found,
                running.cpu,
                running.foreign,
                costs,
            )
            how = "done"
        except Stopped:
            how, why = "cancelled", "it was cancelled"
        except OutOfTime:
            why = "too few trials fitted into the time: the machine is too busy"
        except (MillraceError, BackendUnavailable) as error:
            stopped = running.stop.is_set()
            how, why = ("cancelled", "it was cancelled") if stopped else ("failed", str(error))
        except Exception as error:
            log.exception("bench %s", running.state.id)
            why = str(error) or type(error).__name__
        state = running.now().model_copy(update={"state": how, "ended": why, "doing": "", "result": result})
        self._write(state)
        with self._lock:
            self._running = None
            self._ended[state.id] = state
            gone = list(self._ended)[:-MOST_KEPT]
            for oldest in gone:
                del self._ended[oldest]
        for oldest in gone:
            with suppress(OSError):
                durable.remove(self._path(oldest))
        log.info("bench %s of %s: %s %s", state.id, state.scenario, how, why)

    def _measure(self, running: _Running) -> Measured:
        """With the turn held; afterwards VPP is as before."""
        # Whatever hangs, the generator stops sending.
        timer = at_the_end(LONGEST_S - 2, lambda: _kill(running))
        try:
            self._sweep()
            self.may_have_left = True
            running.say("making what the packets pass")
            ends = self._dataplane.look(
                vpp=lambda vpp: rig.build(vpp.client, self._tables(), running.scenario), linux=_not_here
            )
            cpus = None if running.cpu is None else frozenset([running.cpu])
            running.generator = Generator((str(self._program), *ends), cpus=cpus)
            if running.stop.is_set():
                raise Stopped
            with running.generator as generator:
                running.trials = Trials(generator, self._lengths, running.stop, running.cpu is None)
                return running.trials.measure(running.scenario, running.say)
        finally:
            timer.cancel()
            running.say("removing what it made")
            try:
                self._sweep()
            except (MillraceError, BackendUnavailable) as error:
                log.warning("what bench %s made in VPP is still there: %s", running.state.id, error)

    def _lent(self, running: _Running) -> AbstractContextManager[None]:
        """Room in VPP for the objects of the bench."""
        routes = room_routes(running.scenario, len(running.found.forwarding))
        return nullcontext() if self._lend is None or not routes else self._lend(routes)

    def _sweep(self) -> None:
        left = self._dataplane.look(vpp=lambda vpp: _swept(vpp.client), linux=_not_here)
        if left:
            raise Conflict(f"VPP still has {left} objects of a bench")
        self.may_have_left = False

    def _path(self, bench: str) -> Path:
        return self._folder / f"{bench}.json"

    def _write(self, state: BenchState) -> None:
        """A full disk ends no bench: its result is available as long as this agent runs."""
        try:
            durable.write_json(self._path(state.id), state.model_dump(mode="json"))
        except OSError as error:
            log.warning("bench %s cannot be written: %s", state.id, error)

    def _found(self) -> list[BenchState]:
        """What another agent left, the oldest first."""
        found = []
        for path in self._folder.glob("*.json"):
            try:
                state = BenchState.model_validate(json.loads(path.read_bytes()))
            except (OSError, ValueError, ValidationError):
                continue
            if state.id != path.stem:
                continue
            if state.state == "running":
                state = state.model_copy(
                    update={"state": "failed", "ended": "the agent ended while it ran", "doing": ""}
                )
                self._write(state)
            found.append(state)
        return sorted(found, key=lambda state: state.started_at)[-MOST_KEPT:]


def _swept(client: VppClient) -> int:
    rig.sweep(client)
    return rig.remains(client)


def _end(running: _Running) -> None:
    running.stop.set()
    _kill(running)


def _kill(running: _Running) -> None:
    if running.generator is not None:
        running.generator.kill()


def _not_here(_kernel: KernelLooking) -> NoReturn:
    raise Conflict("VPP does not forward on this router")
