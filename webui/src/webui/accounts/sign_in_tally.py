"""Failed sign-ins in the audit log: the first at once, later ones counted, as one row for each window.

Guesses cost the guesser nothing, so they may neither fill the audit log nor cost one write each. The guesser
also chooses names and addresses: beyond a number of them, the rest is counted together. In the web process a
thread writes the rows, so that no caller, including the event loop, waits for the database.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.db import DatabaseError, InterfaceError, close_old_connections, connections

from webui.accounts import audit

WINDOW_S = 300.0
MOST_KEYS = 50
"""The most pairs of user and address that one window distinguishes."""
OTHERS = "(others)"
_log = logging.getLogger(__name__)


@dataclass
class _Count:
    failed: int = 0
    refused: int = 0
    told: int = 0


class SignInTally:
    """The counts of one process; counts that are not yet written are lost with it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, str], _Count] = {}
        self._since = 0.0
        self._unwritten: list[tuple[str, str, audit.Result]] = []
        self._stopped = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def failed(self, username: str, address: str) -> None:
        """A wrong name or password."""
        self._count(username, address, "failed")

    def refused(self, username: str, address: str, at_once: bool = True) -> None:
        """An attempt whose password was not checked. Without `at_once`, the thread or a flush writes it."""
        self._count(username, address, "refused", at_once)

    def flush(self) -> None:
        """Write the counts, as one row for each user and address, and begin a new window."""
        self._write_first()
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
        """Begin a new window and discard the last one."""
        with self._lock:
            self._counts, self._unwritten = {}, []

    def start(self) -> None:
        """From now on a thread writes: the first attempt at once, and each window when it ends."""
        self._stopped.clear()
        self._wake.clear()
        self._thread = threading.Thread(target=self._run, name="sign-ins", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float = 5.0) -> None:
        """Write the remaining counts and end the thread."""
        self._stopped.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout_s)
            self._thread = None

    def _count(self, username: str, address: str, kind: audit.Result, at_once: bool = True) -> None:
        # Long enough for every valid name; the rest of an invented one would only cost memory.
        key = (username[:64], address)
        with self._lock:
            over = bool(self._counts) and self._clock() - self._since >= WINDOW_S
        at_once = at_once and self._thread is None
        if over and at_once:
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
                self._unwritten.append((*key, kind))
        if first and at_once:
            self._write_first()
        elif first:
            self._wake.set()

    def _write_first(self) -> None:
        with self._lock:
            unwritten, self._unwritten = self._unwritten, []
        for username, address, kind in unwritten:
            audit.record_login(username, address, "login", kind)

    def _run(self) -> None:
        due_s = self._clock() + WINDOW_S
        while not self._stopped.is_set():
            self._wake.wait(max(0.0, due_s - self._clock()))
            self._wake.clear()
            over = self._clock() >= due_s or self._stopped.is_set()
            if over:
                due_s = self._clock() + WINDOW_S
            self._write(self.flush if over else self._write_first)

    def _write(self, rows: Callable[[], None]) -> None:
        """Write from the thread. While the database is unavailable, rows are lost; the log says so."""
        close_old_connections()
        try:
            rows()
        except (DatabaseError, InterfaceError) as error:
            _log.error("failed sign-ins are missing in the audit log: %s", str(error).strip()[:500])
        finally:
            connections.close_all()


tally = SignInTally()
"""The tally of this process."""
