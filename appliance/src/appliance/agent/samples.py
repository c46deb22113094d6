"""Five minutes of interface counters, one sample a second, and the callers that wait for the next one."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from array import array
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from appliance.agent.cleared_counters import ClearedCounters
from appliance.state.counter_selection import CLEARED, EVERYTHING, INTERFACE_COUNTERS, Selection

log = logging.getLogger(__name__)

KEPT = 300
"""Number of samples in the ring."""
PERIOD_S = 1.0
_MOST_ENCODED = 32
"""Number of selections for which the text of the newest sample is kept."""
_WIDTH = len(INTERFACE_COUNTERS)


@dataclass(frozen=True)
class Kept:
    """A sample in the ring: 64 bytes for each interface, and nothing that grows with anything else."""

    time_s: float
    names: tuple[str, ...]
    values: array[int]
    """INTERFACE_COUNTERS of each name, in order."""

    def sample(self) -> dict[str, Any]:
        """The sample as in answers."""
        interfaces = {
            name: dict(zip(INTERFACE_COUNTERS, self.values[at * _WIDTH : (at + 1) * _WIDTH], strict=True))
            for at, name in enumerate(self.names)
        }
        return {"time": self.time_s, "interfaces": interfaces}


class Samples:
    """Reads the data plane's counters at 1 Hz. The newest sample is kept whole, older ones compactly."""

    def __init__(self, read: Callable[[], dict[str, Any]], cleared: ClearedCounters | None = None) -> None:
        self._read, self._cleared = read, cleared
        self._ring: deque[Kept] = deque(maxlen=KEPT)
        self._latest: dict[str, Any] = {}
        self._number = 0
        self._taken_s = 0.0
        self._encoded: dict[Selection, bytes] = {}
        self._clearings = -1
        """The clearing that the newest sample includes."""
        self._next = asyncio.Condition()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="counters")
        self._failure: str | None = None

    async def run(self) -> None:
        """Sample until cancelled. While the data plane is down there are no samples."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            try:
                sample = await loop.run_in_executor(self._pool, self._sample)
            except Exception as error:
                if self._failure is None:
                    log.warning("no counters: %s", error)
                self._failure = str(error) or type(error).__name__
            else:
                if self._failure is not None:
                    log.info("counters are back")
                self._failure = None
                async with self._next:
                    self.add(sample)
                    self._next.notify_all()
            # Late by more than a period (a suspended machine): begin anew instead of catching up.
            due = max(due + PERIOD_S, loop.time())
            await asyncio.sleep(due - loop.time())

    def close(self) -> None:
        """Release the thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def add(self, sample: dict[str, Any]) -> None:
        """Make this the newest sample."""
        self._latest, self._number, self._taken_s = sample, self._number + 1, time.monotonic()
        self._encoded.clear()
        self._clearings = -1
        self._ring.append(_kept(sample, self._ring[-1].names if self._ring else ()))

    @property
    def failure(self) -> str | None:
        """Why there are no new samples, or None."""
        return self._failure

    def latest(self, selection: Selection = EVERYTHING) -> bytes | None:
        """The newest sample, JSON, unless it is too old to be useful."""
        if not self._number or time.monotonic() - self._taken_s > 5 * PERIOD_S:
            return None
        return self._text(selection)

    def since(self, time_s: float) -> list[Kept]:
        """Samples taken after ``time_s``, oldest first."""
        return [kept for kept in self._ring if kept.time_s > time_s]

    async def following(self, number: int, selection: Selection = EVERYTHING) -> tuple[int, bytes]:
        """Wait for a sample later than the one with this number (0: any); returns its number and itself.

        It is always the newest: a late caller misses those in between.
        """
        async with self._next:
            await self._next.wait_for(lambda: self._number > number)
            return self._number, self._text(selection)

    def _text(self, selection: Selection) -> bytes:
        """The newest sample for all callers with this selection, encoded once."""
        if self._cleared is not None and self._clearings != self._cleared.number:
            self._clearings = self._cleared.number
            self._latest = {**self._latest, CLEARED: self._cleared.interfaces()}
            self._encoded.clear()
        text = self._encoded.get(selection)
        if text is None:
            text = json.dumps(selection.of(self._latest), separators=(",", ":")).encode()
            if len(self._encoded) < _MOST_ENCODED:
                self._encoded[selection] = text
        return text

    def _sample(self) -> dict[str, Any]:
        counters = self._read()
        if self._cleared is not None:
            self._cleared.follow_interfaces(counters["interfaces"], counters.get("origins", {}))
            self._cleared.keep()
        return {
            "time": time.time(),
            **{name: section for name, section in counters.items() if name != "origins"},
        }


def _kept(sample: Mapping[str, Any], names_before: tuple[str, ...]) -> Kept:
    interfaces: Mapping[str, Mapping[str, int]] = sample["interfaces"]
    names = tuple(interfaces)
    values = array(
        "Q", (int(counters.get(field, 0)) for counters in interfaces.values() for field in INTERFACE_COUNTERS)
    )
    # Mostly the same names as before: all samples share one tuple.
    return Kept(float(sample["time"]), names_before if names == names_before else names, values)
