"""Failed sign-ins in the audit log: the first one at once, those after it counted, one row for each window.

Guesses are free for whoever makes them, so they may neither fill the audit log nor cost a write each. Names
and addresses are the guesser's choice too: past a number of them the rest is counted together.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from webui.accounts import audit

WINDOW_S = 300.0
MOST_KEYS = 50
"""User and address pairs that one window tells apart."""
OTHERS = "(others)"


@dataclass
class _Count:
    failed: int = 0
    refused: int = 0
    told: int = 0


class SignInTally:
    """The counts of one process; what it has not told yet is lost with it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, str], _Count] = {}
        self._since = 0.0
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def failed(self, username: str, address: str) -> None:
        """A wrong name or password."""
        self._count(username, address, "failed")

    def refused(self, username: str, address: str) -> None:
        """An attempt that was not even looked at."""
        self._count(username, address, "refused")

    def flush(self) -> None:
        """Write what was counted, as one row for each user and address, and begin a new window."""
        with self._lock:
            counts, self._counts = self._counts, {}
        for (username, address), count in counts.items():
            rest = count.failed + count.refused - count.told
            if rest:
                audit.record_login(
                    username,
                    address,
                    "login",
                    "failed" if count.failed else "refused",
                    f"{rest} more in {WINDOW_S / 60:.0f} minutes: {count.failed} failed in all, "
                    f"{count.refused} refused without a look at the password",
                )

    def forget(self) -> None:
        """Begin a new window without a word of the last one."""
        with self._lock:
            self._counts = {}

    def start(self) -> None:
        """Write each window when it is over, from a thread."""
        self._stopped.clear()
        self._thread = threading.Thread(target=self._run, name="sign-ins", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float = 5.0) -> None:
        """Write what there is and end the thread."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _count(self, username: str, address: str, kind: audit.Result) -> None:
        # Long enough for any user there can be; the rest of a made-up name only costs memory.
        key = (username[:64], address)
        with self._lock:
            over = bool(self._counts) and self._clock() - self._since >= WINDOW_S
        if over:
            self.flush()
        with self._lock:
            if not self._counts:
                self._since = self._clock()
            if key not in self._counts and len(self._counts) >= MOST_KEYS:
                key = (OTHERS, OTHERS)
            count = self._counts.setdefault(key, _Count())
            first = getattr(count, kind) == 0
            setattr(count, kind, getattr(count, kind) + 1)
            count.told += first
        if first:
            audit.record_login(key[0], key[1], "login", kind)

    def _run(self) -> None:
        from django.db import connections

        while True:
            over = self._stopped.wait(WINDOW_S)
            try:
                self.flush()
            finally:
                connections.close_all()
            if over:
                return


tally = SignInTally()
"""The process's own."""
