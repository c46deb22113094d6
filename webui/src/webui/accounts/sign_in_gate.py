"""Who may try a password now. Nothing here says whether a user exists: any name is treated alike.

A stranger is limited by address (IPv6: by /64), by the user they try, and all strangers together; a user
whose browser or address signed in before is limited apart from them, so that no stranger locks anybody out.
In front of it axes counts failures of one user from one source.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest

from webui.accounts.attempt_limits import Attempts, Limit
from webui.accounts.hashing_queue import HashingQueue, QueueFull, queue
from webui.accounts.known_devices import Device, KnownSources, device_of
from webui.accounts.sign_in_tally import tally
from webui.http.client_address import client_address, client_source

OF_A_SOURCE = Limit(10, 6.0)
OF_A_USER = Limit(30, 30.0)
OF_STRANGERS = Limit(20, 0.2)
"""All of them together: 5 a second, about a third of one CPU."""
OF_A_DEVICE = Limit(20, 30.0)
OF_A_KNOWN_SOURCE = Limit(20, 6.0)
_EVERYBODY = "everybody"


class SignInRefused(Exception):
    """Not now. `status` is 429 where it is this client's or user's own limit, 503 where it is everybody's."""

    def __init__(self, status: int, retry_after_s: float) -> None:
        self.status, self.retry_after_s = status, max(1, math.ceil(retry_after_s))
        super().__init__("Too many attempts to log in.")


@dataclass
class Attempt:
    """One attempt that was let in."""

    username: str
    device: Device | None
    charged: list[tuple[Attempts, str]] = field(default_factory=list)

    def take_back(self) -> None:
        """It counts against nobody: the password was right, or was not looked at."""
        for attempts, key in self.charged:
            attempts.refund(key)


class SignInGate:
    """The limits and the queue of one process."""

    def __init__(
        self, hashing: HashingQueue, known_sources: KnownSources, clock: Any = time.monotonic
    ) -> None:
        self._queue, self._known_sources = hashing, known_sources
        self._by_source = Attempts(OF_A_SOURCE, clock)
        self._by_user = Attempts(OF_A_USER, clock)
        self._strangers = Attempts(OF_STRANGERS, clock)
        self._by_device = Attempts(OF_A_DEVICE, clock)
        self._by_known_source = Attempts(OF_A_KNOWN_SOURCE, clock)

    @contextmanager
    def attempt(self, request: HttpRequest, username: str) -> Iterator[Attempt]:
        """Let one attempt in for what is done inside. Raises SignInRefused, before anything costly."""
        source, device = client_source(request), device_of(request)
        known, limits = self._limits(username, source, device)
        attempt = Attempt(username, device)
        try:
            with self._queue.place(source, known):
                self._take(attempt, limits)
                yield attempt
        except QueueFull as full:
            tally.refused(username, client_address(request))
            raise SignInRefused(429 if full.own else 503, 1) from None
        except SignInRefused:
            tally.refused(username, client_address(request))
            raise

    def device_is_known(self, request: HttpRequest, username: str) -> bool:
        """Whether this browser signed in as `username` before and has not guessed too often since."""
        device = device_of(request)
        return (
            device is not None and device.username == username and self._by_device.wait_s(device.number) == 0
        )

    def signed_in(self) -> None:
        """Somebody did: their source is known from now on."""
        self._known_sources.forget()

    def forget(self) -> None:
        """Start over, as after a restart."""
        for attempts in (
            self._by_source, self._by_user, self._strangers, self._by_device, self._by_known_source
        ):  # fmt: skip
            attempts.clear()
        self._known_sources.forget()

    def _limits(
        self, username: str, source: str, device: Device | None
    ) -> tuple[bool, list[tuple[Attempts, str]]]:
        if device is not None and device.username == username:
            if self._by_device.wait_s(device.number) == 0:
                return True, [(self._by_device, device.number)]
        elif self._known_sources.knows(username, source):
            return True, [(self._by_known_source, f"{source} {username}")]
        return False, [
            (self._by_source, source), (self._by_user, username), (self._strangers, _EVERYBODY)
        ]  # fmt: skip

    def _take(self, attempt: Attempt, limits: list[tuple[Attempts, str]]) -> None:
        """Count the attempt against all limits, or against none and raise SignInRefused."""
        for attempts, key in limits:
            if wait_s := attempts.take(key):
                attempt.take_back()
                raise SignInRefused(503 if attempts is self._strangers else 429, wait_s)
            attempt.charged.append((attempts, key))


gate = SignInGate(queue, KnownSources())
"""The process's own."""


def is_known_device(request: HttpRequest, credentials: dict[str, Any] | None = None) -> bool:
    """What axes asks before it locks somebody out."""
    return gate.device_is_known(request, str((credentials or {}).get("username", "")))
