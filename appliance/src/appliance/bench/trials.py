"""The trials of a bench: overload, then the search for the PDR, within fixed time, until it is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from statistics import median

from appliance.bench.generator import Generator, GeneratorFailed, Trial
from appliance.bench.scenarios import Scenario
from appliance.bench.search import PDR_LOSS, TRIAL_S, Measured, rounds, search

Say = Callable[[str], None]
_LEARN_S, _LEARNT_S = 0.2, 5.0
_WARM_PPS, _WARM_S, _WARM_TRIALS = 500_000, 0.2, 6
_LEAST_ROUNDS = 3
_THIS = "this router"


class Stopped(Exception):
    """Somebody cancelled the bench."""


class OutOfTime(Exception):
    """The time for trials is over."""


@dataclass(frozen=True)
class Lengths:
    """The durations: ``trials_s`` is for all trials together."""

    rounds: int = 9
    round_s: float = TRIAL_S
    trials_s: float = 14.0
    quiet_s: float = 1.0
    """How long the traffic is observed beforehand."""


class Trials:
    """The router as the search sees it: each trial first asks whether there is to be another."""

    name = _THIS

    def __init__(self, generator: Generator, lengths: Lengths, stop: threading.Event, shares: bool) -> None:
        self._generator, self._lengths, self._stop, self._shares = generator, lengths, stop, shares
        self._ends = time.monotonic() + lengths.trials_s
        self.count = 0
        self.received = 0

    def measure(self, scenario: Scenario, say: Say) -> Measured:
        """Raises Stopped, OutOfTime before there is a median, GeneratorFailed."""
        self._learn(scenario, say)
        measured = Measured()
        say("overload")
        try:
            rounds([self], {_THIS: measured}, self._lengths.rounds, self._lengths.round_s)
            say("searching the PDR")
            search([self], {_THIS: measured}, (PDR_LOSS,))
        except OutOfTime:
            if len(measured.received_pps) < _LEAST_ROUNDS:
                raise
        return measured

    def trial(self, pps: float, seconds: float) -> Trial:
        """One trial. Raises Stopped, OutOfTime, GeneratorFailed."""
        self._go_on()
        told = (self._generator.steady if self._shares else self._generator.poll)(pps, seconds)
        self.count += 1
        self.received += told.received
        return told

    def _go_on(self) -> None:
        if self._stop.is_set():
            raise Stopped
        if time.monotonic() > self._ends:
            raise OutOfTime

    def _learn(self, scenario: Scenario, say: Say) -> None:
        """Packets of each stream arrive: the links are up."""
        say("connecting")
        for side, stream in enumerate(scenario.streams):
            if stream is None:
                self._generator.quiet(side)
            else:
                self._generator.stream(side, stream)
        ends = time.monotonic() + _LEARNT_S
        while True:
            self._go_on()
            learnt = self._generator.learn(_LEARN_S)
            self.received += learnt.received
            # Of both directions: half of them is one direction alone.
            if learnt.offered and learnt.received > learnt.offered * 0.75:
                break
            if time.monotonic() > ends:
                raise GeneratorFailed(
                    f"the router does not forward the bench's packets: {learnt.received:,} of "
                    f"{learnt.offered:,} came through"
                )
        if scenario.warm:
            say(f"letting {scenario.size:,} flows pass once")
            for _ in range(_WARM_TRIALS):
                self.trial(_WARM_PPS, _WARM_S)


def offered_pps(measured: Measured) -> float:
    """At overload, the median of the rounds."""
    return float(
        median(one["offered"] / one["seconds"] for one in measured.trials if one["what"] == "overload")
    )


def stalled(measured: Measured) -> float:
    """Share of the time at overload in which the generator did not run."""
    overload = [one for one in measured.trials if one["what"] == "overload"]
    whole = sum(float(one["seconds"]) for one in overload)
    return min(1.0, sum(float(one["stalled_s"]) for one in overload) / whole) if whole else 0.0


def at_the_end(seconds: float, act: Callable[[], None]) -> threading.Timer:
    """Call ``act`` in this many seconds, unless cancelled; an error it raises is ignored."""

    def quietly() -> None:
        with suppress(Exception):
            act()

    timer = threading.Timer(seconds, quietly)
    timer.daemon = True
    timer.start()
    return timer
