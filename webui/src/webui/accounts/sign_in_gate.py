"""Decides who may try a password now. No answer reveals whether a user exists: all names are treated alike.

A stranger is limited by address (IPv6: by /64) and by the user they try. A user whose browser or address
signed in before is limited separately from strangers. A source that has hardly tried anything may still try a
user at whom others guess, so no stranger can lock anybody out, and a crowd of strangers is slowed down.
Before this gate, axes counts failures of one user from one source. Behind it, one lane for all strangers
serves the source with the fewest attempts first (webui.http.fair_lane).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest

from webui.accounts.attempt_limits import Attempts, Limit
from webui.accounts.hashing_queue import HashingQueue, QueueFull, queue
from webui.accounts.known_devices import Device, KnownSources, device_of
from webui.accounts.sign_in_tally import tally
from webui.http.client_address import client_address, client_source, network_of

OF_A_SOURCE = Limit(10, 6.0)
OF_A_USER = Limit(30, 30.0)
OF_A_NEWCOMER = Limit(3, 3600.0)
"""A source's limit for users whose own limit is used up."""
OF_NEWCOMERS_AT_A_USER = Limit(200, 5.0)
"""The limit of all such sources together, because many addresses are cheap to have."""
OF_A_NETWORK = Limit(60, 1.0)
"""Only orders the queue: clients from a network that guesses go after others."""
OF_A_DEVICE = Limit(20, 30.0)
OF_A_KNOWN_SOURCE = Limit(20, 6.0)
_ADMITTED = "millrace.sign_in"


class SignInRefused(Exception):
    """Refused for now. `status` is 429 for the limit of this client or user, 503 for the limit of
    everybody.
    """

    def __init__(self, status: int, retry_after_s: float) -> None:
        self.status, self.retry_after_s = status, max(1, math.ceil(retry_after_s))
        super().__init__("Too many attempts to sign in.")


@dataclass
class Attempt:
    """One admitted attempt."""

    username: str
    device: Device | None
    known: bool = False
    rank: float = 0.0
    """For a stranger: how much the source and its network tried before. The lowest goes first."""
    charged: list[tuple[Attempts, str]] = field(default_factory=list)

    def take_back(self) -> None:
        """The attempt counts against nobody: the password was right, or was not checked."""
        while self.charged:
            attempts, key = self.charged.pop()
            attempts.refund(key)


class SignInGate:
    """The limits and the queue of one process."""

    def __init__(
        self, hashing: HashingQueue, known_sources: KnownSources, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._queue, self.known_sources = hashing, known_sources
        self._by_source = Attempts(OF_A_SOURCE, clock)
        self._by_user = Attempts(OF_A_USER, clock)
        self._newcomers = Attempts(OF_A_NEWCOMER, clock)
        self._newcomers_by_user = Attempts(OF_NEWCOMERS_AT_A_USER, clock)
        self._by_network = Attempts(OF_A_NETWORK, clock)
        self._by_device = Attempts(OF_A_DEVICE, clock)
        self._by_known_source = Attempts(OF_A_KNOWN_SOURCE, clock)

    def admit(self, request: HttpRequest, username: str) -> Attempt:
        """Count one attempt and admit it, or raise SignInRefused and count none. Memory only, no query."""
        source, device = client_source(request), device_of(request)
        attempt = Attempt(username, device)
        if device is not None and device.username == username:
            attempt.known = _charge(attempt, self._by_device, device.number) == 0
        elif self.known_sources.knows(username, source):
            attempt.known = True
            _take(attempt, self._by_known_source, f"{source} {username}")
        if not attempt.known:
            self._admit_stranger(attempt, source)
        return attempt

    def admit_at_the_door(self, request: HttpRequest, username: str, scope: dict[str, Any]) -> Attempt:
        """Like `admit`, for the HTTP server: the view that receives `scope` does not count the attempt again.

        Raises SignInRefused, which the audit log's count already includes.
        """
        try:
            scope[_ADMITTED] = attempt = self.admit(request, username)
        except SignInRefused:
            tally.refused(username, client_address(request), at_once=False)
            raise
        return attempt

    @contextmanager
    def attempt(self, request: HttpRequest, username: str) -> Iterator[Attempt]:
        """Admit one attempt for the block. Raises SignInRefused before any costly work."""
        admitted = vars(request).get("scope", {}).get(_ADMITTED)
        try:
            if not isinstance(admitted, Attempt) or admitted.username != username:
                if self.known_sources.is_due():
                    self.known_sources.read()
                admitted = self.admit(request, username)
            with self._queue.place(client_source(request), admitted.known):
                yield admitted
        except QueueFull as full:
            if isinstance(admitted, Attempt):
                admitted.take_back()
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

    def signed_in(self, request: HttpRequest, username: str) -> None:
        """Record a successful sign-in: its source is known from now on."""
        self.known_sources.add(username, client_source(request))

    def forget(self) -> None:
        """Start over, as after a restart."""
        for attempts in (
            self._by_source, self._by_user, self._newcomers, self._newcomers_by_user, self._by_network,
            self._by_device, self._by_known_source,
        ):  # fmt: skip
            attempts.clear()
        self.known_sources.forget()

    def _admit_stranger(self, attempt: Attempt, source: str) -> None:
        network, username = network_of(source), attempt.username
        attempt.rank = self._by_source.level(source) + self._by_network.level(network)
        _take(attempt, self._by_source, source)
        wait_s = _charge(attempt, self._by_user, username)
        # A newcomer may try even while others guess at this user; otherwise a flood would lock the user out.
        if wait_s and not self._is_newcomer(attempt, source):
            attempt.take_back()
            raise SignInRefused(429, wait_s)
        # This bucket limits nothing; it only orders the waiting attempts.
        _charge(attempt, self._by_network, network)

    def _is_newcomer(self, attempt: Attempt, source: str) -> bool:
        return not (
            _charge(attempt, self._newcomers, source)
            or _charge(attempt, self._newcomers_by_user, attempt.username)
        )


def _take(attempt: Attempt, attempts: Attempts, key: str) -> None:
    """Count the attempt, or count it against no limit and raise SignInRefused."""
    if wait_s := _charge(attempt, attempts, key):
        attempt.take_back()
        raise SignInRefused(429, wait_s)


def _charge(attempt: Attempt, attempts: Attempts, key: str) -> float:
    """Count the attempt and return 0, or the seconds until it may be counted."""
    wait_s = attempts.take(key)
    if not wait_s:
        attempt.charged.append((attempts, key))
    return wait_s


gate = SignInGate(queue, KnownSources())
"""The gate of this process."""


def is_known_device(request: HttpRequest, credentials: dict[str, Any] | None = None) -> bool:
    """axes calls this before it locks somebody out."""
    return gate.device_is_known(request, str((credentials or {}).get("username", "")))
