"""The rate a router can take: searched by trials, of several routers in turn under the same conditions.

NDR, the non-drop rate, is the highest rate at which nothing was lost (RFC 2544, section 26.1); PDR the
highest with at most 0.1 % lost. The maximum receive rate (MRR) is what arrives when far more is offered. The
searches halve an interval. As in MLRsearch a rate is judged by several trials, for a virtual CPU may be taken
away in one of them: it passes when one of up to three does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Protocol

from appliance.bench.generator import Trial

PDR_LOSS = 0.001
TRIAL_S = 0.2
"""Short because the trial takes both CPUs from everything else on the machine."""
_ATTEMPTS = 3
_STEPS = 6
_TOO_LONG_S = 0.002
"""If the sender did not run for this long, the trial says nothing about the router."""
OVERLOAD_PPS = 100e6


class Router(Protocol):
    """What trials are made of."""

    @property
    def name(self) -> str:
        """Among those that are compared."""

    def trial(self, pps: float, seconds: float) -> Trial:
        """Packets at a rate of both directions together."""


@dataclass
class Measured:
    """What one router did in a scenario. Rates are packets a second of both directions together."""

    received_pps: list[float] = field(default_factory=list)
    """Of each round, at more than it can take."""
    ndr_pps: float | None = None
    pdr_pps: float | None = None
    nodes: Mapping[str, Mapping[str, float]] | None = None
    """Of VPP's worker, in the overloaded rounds."""
    trials: list[dict[str, Any]] = field(default_factory=list)

    @property
    def mrr_pps(self) -> float:
        """The median of the rounds."""
        return median(self.received_pps)

    def log(self, what: str, wanted_pps: float, trial: Trial) -> None:
        """Into the trial log."""
        told = asdict(trial) | {"what": what, "wanted_pps": wanted_pps, "loss": trial.loss}
        self.trials.append(told)


def rounds(routers: Sequence[Router], measured: Mapping[str, Measured], count: int, seconds: float) -> None:
    """Overload each router in turn, ``count`` times; the order turns round each time."""
    for number in range(count):
        for router in routers if number % 2 == 0 else reversed(routers):
            trial = router.trial(OVERLOAD_PPS, seconds)
            measured[router.name].received_pps.append(trial.received_pps)
            measured[router.name].log("overload", OVERLOAD_PPS, trial)


def search(
    routers: Sequence[Router],
    measured: Mapping[str, Measured],
    losses: Sequence[float] = (PDR_LOSS, 0.0),
) -> None:
    """PDR and then NDR of each router, or those of these ``losses``; one trial of each router in turn."""
    halvings = {router.name: _halving(router, measured[router.name], losses) for router in routers}
    while halvings:
        for name in list(halvings):
            if next(halvings[name], None) is None:
                del halvings[name]


def _halving(router: Router, known: Measured, losses: Sequence[float]) -> Iterator[bool]:
    """Yields after each trial."""
    for loss in losses:
        # Some queueing makes a burst as fast as the median of the overloaded rounds, or a bit faster.
        low, high = 0.0, known.mrr_pps * 1.1 if loss else (known.pdr_pps or known.mrr_pps) * 1.01
        passed = [0.0]
        for _ in range(_STEPS):
            middle = (low + high) / 2
            fits = False
            for _ in range(_ATTEMPTS):
                trial = _undisturbed(lambda: router.trial(middle, TRIAL_S))  # noqa: B023  # called at once
                known.log("pdr" if loss else "ndr", middle, trial)
                yield True
                if trial.loss <= loss:
                    fits = True
                    break
            if fits:
                low = middle
                passed.append(middle)
            else:
                high = middle
        best = max(passed)
        if loss:
            known.pdr_pps = best
        else:
            known.ndr_pps = best


def _undisturbed(trial: Callable[[], Trial]) -> Trial:
    """A trial in which the sender ran; the last one if there was none."""
    told = trial()
    for _ in range(1, _ATTEMPTS):
        if told.longest_stall_s < _TOO_LONG_S:
            break
        told = trial()
    return told
