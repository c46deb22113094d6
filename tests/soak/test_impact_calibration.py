"""Random commits under mixed traffic, foretold and then measured: nothing is lost that nobody spoke of, and
what was certain happens.

::

    lan host ── lan0 [router] wan0 ── two BGP neighbors, and a host behind them
                        core0 ── OSPF neighbor, and a host behind it

``make soak-impact`` runs it; rounds are drawn from seed and number, so that each can be done again alone.
"""

from __future__ import annotations

import json
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx
import pytest

from appliance.errors import MillraceError
from lab.errors import LabError
from tests.live_lab import live_lab
from tests.requirements import needs_root_netns, require_vpp
from tests.soak.impact_campaign import Bench, Lost, Round
from tests.soak.impact_cases import NAMED
from tests.soak.impact_changes import OUTSIDE
from tests.soak.impact_report import is_judged, line, printed, table
from tests.soak.mixed_traffic import Traffic
from tests.soak.options import DATAPLANES, Options, options

pytestmark = [pytest.mark.soak, pytest.mark.root, pytest.mark.timeout(0), needs_root_netns]

_QUIET_S = 10.0
_MOST_LOST = 5
"""Labs in a row that could not be brought back to where a round begins."""


class _Shared:
    """Rounds to be done, and those done, by several labs."""

    def __init__(self, asked: Options, dataplane: str) -> None:
        self.asked, self.dataplane = asked, dataplane
        self.wanted: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number in (*range(-len(NAMED), 0), *asked.rounds):
            self.wanted.put(number)
        self.done: list[dict[str, Any]] = []
        self.failed: list[str] = []
        self._lock = threading.Lock()

    def end(self) -> None:
        """No more rounds."""
        while not self.wanted.empty():
            with suppress(queue.Empty):
                self.wanted.get_nowait()

    def take(self, one: Round) -> None:
        """A round is done."""
        with self._lock:
            told = {"plane": self.dataplane, **one.as_json()}
            self.done.append(told)
            print(line(told), flush=True)
            if self.asked.report is not None:
                with self.asked.report.open("a") as file:
                    file.write(json.dumps(told) + "\n")

    def fail(self, number: int, error: BaseException) -> None:
        """A round could not be done, or its lab not be brought back."""
        with self._lock:
            replay = self.asked.replay("calibration", self.dataplane, number)
            text = f"{replay}\n  {type(error).__name__}: {error}"
            self.failed.append(text)
            print(f"FAILED {text}", flush=True)


def _work(shared: _Shared, prefix: str) -> None:
    """Rounds in a lab until there are none; a lab that is lost is replaced."""
    lost = 0
    while not shared.wanted.empty() and lost < _MOST_LOST:
        with (
            live_lab(prefix, shared.dataplane) as live,
            Traffic(live.topology.namespaces, OUTSIDE[shared.dataplane]) as traffic,
        ):
            bench = Bench(live, traffic, shared.asked.seed)
            noise = {flow: how for flow, how in bench.quiet(_QUIET_S).items() if flow.protocol != "forward"}
            assert not noise, f"packets are lost though nothing is committed: {noise}"
            while True:
                try:
                    number = shared.wanted.get_nowait()
                except queue.Empty:
                    return
                try:
                    shared.take(bench.named(-1 - number) if number < 0 else bench.round(number))
                except (Lost, AssertionError, MillraceError, LabError, httpx.HTTPError) as error:
                    shared.fail(number, error)
                    lost += 1
                    break
                lost = 0


@pytest.mark.parametrize("dataplane", DATAPLANES)
def test_what_was_foretold_is_what_happened(dataplane: str) -> None:
    asked = options()
    if dataplane not in asked.dataplanes:
        pytest.skip("another data plane was asked for")
    if dataplane == "vpp":
        require_vpp()
    print(f"MILLRACE_SEED={asked.seed}: {len(NAMED)} rounds with a name and {len(asked.rounds)} drawn")
    shared = _Shared(asked, dataplane)
    prefixes = [f"{'v' if dataplane == 'vpp' else 'c'}{chr(ord('a') + index)}" for index in range(asked.labs)]
    with ThreadPoolExecutor(len(prefixes)) as pool:
        try:
            for future in [pool.submit(_work, shared, prefix) for prefix in prefixes]:
                future.result()
        finally:
            # Interrupted, or a lab did not come up: each lab ends with the round it is in.
            shared.end()
    print(f"\nseed {asked.seed}\n{printed({dataplane: table(shared.done)})}", flush=True)
    judged = [one for one in shared.done if is_judged(one)]
    wrong = [line(one) for one in judged if one["untold"]]
    assert not wrong and not shared.failed, "\n".join([*wrong, *shared.failed])
    certain = [came for one in judged for came in one["certain"].values() if came is not None]
    assert certain.count(False) <= len(certain) / 10, "more than a tenth of what was certain did not come"
