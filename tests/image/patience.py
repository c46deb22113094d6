"""Time limits and measured wall times. Emulation is slow, and a busy machine slower.

MILLRACE_PATIENCE multiplies every limit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

BOOT_S = 900.0
"""From power on to an answer of the REST API."""

_Seen = TypeVar("_Seen")
measured: list[tuple[str, float]] = []


def limit_s(seconds: float) -> float:
    """A time limit, in seconds, as this run wants it."""
    return seconds * float(os.environ.get("MILLRACE_PATIENCE", "1"))


@contextmanager
def wall_time(what: str) -> Iterator[None]:
    """Keep how long the block took, for the summary at the end."""
    started_s = time.monotonic()
    yield
    took_s = time.monotonic() - started_s
    measured.append((what, took_s))
    print(f"\n[{time.strftime('%H:%M:%S')}] {what}: {took_s:.1f} s", flush=True)


def wait_for(look: Callable[[], _Seen | None], *, timeout_s: float, what: str, pause_s: float = 0.5) -> _Seen:
    """The first true value that `look` gives. AssertionError, naming `what`, when `timeout_s` is over."""
    deadline_s = time.monotonic() + limit_s(timeout_s)
    while not (seen := look()):
        assert time.monotonic() < deadline_s, f"still waiting after {limit_s(timeout_s):g} s: {what}"
        time.sleep(pause_s)
    return seen
