"""The traces of the agent: the one that runs, and the last ones that ended. They are kept in memory alone."""

from __future__ import annotations

import json
import logging
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from appliance.engine import durable
from appliance.errors import Conflict, MillraceError, NotFound, RouterUnavailable
from appliance.state.traces import MOST_KEPT, TracedPacket, TraceResult, TraceState, TraceWanted

log = logging.getLogger(__name__)
_FIRST_LOOK_S = 0.5
_END_S = 15.0


class TraceFailed(RouterUnavailable):
    """The data plane does not trace; the message says why."""


@dataclass(frozen=True)
class Seen:
    """The packets traced so far."""

    packets: tuple[TracedPacket, ...]
    """The requested packets."""
    total: int
    """Including those that arrived elsewhere and could not be left out earlier."""


class Tracer(Protocol):
    """A trace in the data plane."""

    def started_s(self) -> int:
        """When the data plane started."""

    def begin(self, wanted: TraceWanted) -> None:
        """Arm it."""

    def look(self, wanted: TraceWanted) -> Seen:
        """Those traced so far."""

    def end(self) -> None:
        """Remove it."""


@dataclass
class _Running:
    state: TraceState
    tracer: Tracer
    began: float
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def now(self) -> TraceState:
        return self.state.model_copy(update={"ran_s": round(time.monotonic() - self.began, 1)})


class PacketTraces:
    """Traces of one router. Safe to use from any thread.

    ``mark`` is a file that exists while a trace is armed: after an agent was killed, the next one removes the
    trace when it starts, unless the data plane was restarted in between.
    """

    def __init__(self, mark: Path, tracer: Callable[[], Tracer]) -> None:
        self._mark, self._tracer = mark, tracer
        self._lock = threading.Lock()
        self._starting = False
        self._running: _Running | None = None
        self._ended: dict[str, TraceResult] = {}

    def all(self) -> tuple[TraceState, ...]:
        """Every trace, the newest first."""
        with self._lock:
            running = () if self._running is None else (self._running.now(),)
            return (*running, *(one.trace for one in reversed(self._ended.values())))

    def start(self, wanted: TraceWanted, author: str) -> TraceState:
        """Begin one; packets are traced when this returns. Raises Conflict, NotFound, RouterUnavailable."""
        with self._lock:
            if self._running is not None or self._starting:
                raise Conflict("a packet trace runs already: VPP has one at a time; stop it, or wait")
            self._starting = True
        try:
            self.tidy()
            tracer = self._tracer()
            durable.write(self._mark, json.dumps({"data_plane_started_s": tracer.started_s()}).encode())
            try:
                tracer.begin(wanted)
            except BaseException:
                durable.remove(self._mark)
                raise
            return self._follow(tracer, wanted, author)
        finally:
            with self._lock:
                self._starting = False

    def result(self, trace: str) -> TraceResult:
        """A trace with its packets. Raises NotFound."""
        with self._lock:
            if self._running is not None and self._running.state.id == trace:
                return TraceResult(trace=self._running.now(), packets=())
            if (ended := self._ended.get(trace)) is not None:
                return ended
        raise NotFound(f"there is no packet trace {trace}")

    def stop(self, trace: str) -> TraceState:
        """End one, and wait for its packets. One that has ended stays as it is. Raises NotFound."""
        with self._lock:
            running = self._running
        if running is not None and running.state.id == trace:
            running.stop.set()
            assert running.thread is not None
            running.thread.join(_END_S)
        return self.result(trace).trace

    def remove(self, trace: str) -> TraceState:
        """Forget one that has ended. Raises NotFound, Conflict while it runs."""
        with self._lock:
            if self._running is not None and self._running.state.id == trace:
                raise Conflict(f"packet trace {trace} runs: stop it first")
            ended = self._ended.pop(trace, None)
        if ended is None:
            raise NotFound(f"there is no packet trace {trace}")
        return ended.trace

    def tidy(self) -> None:
        """Remove what a killed agent left. May raise BackendUnavailable: then call it again."""
        try:
            left = json.loads(self._mark.read_bytes())
        except FileNotFoundError:
            return
        except (OSError, ValueError):
            left = {}
        tracer = self._tracer()
        if not isinstance(left, dict) or left.get("data_plane_started_s") in (None, tracer.started_s()):
            tracer.end()
            log.info("a packet trace that an agent left was taken away")
        durable.remove(self._mark)

    @property
    def has_left(self) -> bool:
        """Whether something is armed that nobody follows."""
        return self._running is None and not self._starting and self._mark.exists()

    def close(self) -> None:
        """End the one that runs."""
        with self._lock:
            running = self._running
        if running is not None:
            running.stop.set()
            assert running.thread is not None
            running.thread.join(_END_S)

    # Inside.

    def _follow(self, tracer: Tracer, wanted: TraceWanted, author: str) -> TraceState:
        state = TraceState(
            id=secrets.token_hex(6),
            wanted=wanted,
            author=author,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            state="running",
            ran_s=0.0,
        )
        running = _Running(state, tracer, time.monotonic())
        running.thread = threading.Thread(target=self._run, args=(running,), name=f"trace-{state.id}")
        with self._lock:
            while len(self._ended) >= MOST_KEPT:
                del self._ended[next(iter(self._ended))]
            self._running = running
            running.thread.start()
        return state

    def _run(self, running: _Running) -> None:
        packets: tuple[TracedPacket, ...] = ()
        try:
            try:
                why = self._wait(running)
                packets = running.tracer.look(running.state.wanted).packets
            finally:
                running.tracer.end()
                durable.remove(self._mark)
            how = "done"
        except (MillraceError, OSError) as error:
            how, why = "failed", str(error)
        except Exception as error:
            log.exception("packet trace %s", running.state.id)
            how, why = "failed", str(error) or type(error).__name__
        state = running.now().model_copy(update={"state": how, "ended": why, "packets": len(packets)})
        with self._lock:
            self._running = None
            self._ended[state.id] = TraceResult(trace=state, packets=packets)
        log.info("packet trace %s on %s: %s, %d packets", state.id, state.interface, why, state.packets)

    def _wait(self, running: _Running) -> str:
        """Why it ends. VPP is queried less and less often: it forwards nothing while it answers."""
        wanted, started_s = running.state.wanted, running.tracer.started_s()
        end = running.began + wanted.seconds
        pause_s = _FIRST_LOOK_S
        while True:
            left_s = end - time.monotonic()
            if left_s <= 0:
                return f"the limit of {wanted.seconds} seconds was reached"
            if running.stop.wait(min(pause_s, left_s)):
                return "it was stopped"
            if running.tracer.started_s() != started_s:
                raise TraceFailed("VPP was restarted: what it had traced is gone")
            if time.monotonic() < end:
                seen = running.tracer.look(wanted)
                count = len(seen.packets)
                running.state = running.state.model_copy(update={"packets": count})
                if count >= wanted.packets:
                    return _reached(wanted)
                if seen.total >= wanted.packets:
                    others = seen.total - count
                    return f"{_reached(wanted)}, {others} of them of other interfaces"
            pause_s *= 2


def _reached(wanted: TraceWanted) -> str:
    packets = "1 packet" if wanted.packets == 1 else f"{wanted.packets} packets"
    return f"the limit of {packets} was reached"
