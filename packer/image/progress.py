"""Progress lines with times: what the build is doing, and how long each part took."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_started_s = time.monotonic()


def say(text: str) -> None:
    """One line on standard output, with the seconds since this process began."""
    print(f"millrace image [{time.monotonic() - _started_s:6.1f} s] {text}", flush=True, file=sys.stdout)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Print that `what` begins, and how long it took after it has succeeded."""
    say(f"{what} ...")
    before_s = time.monotonic()
    yield
    say(f"{what}: {time.monotonic() - before_s:.1f} s")
