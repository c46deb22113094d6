"""Hashes one password at a time and bounds the number that wait, which bounds the memory and CPU that guesses
cost.

Users who are signed in, or who signed in from the same place before, go before strangers. A place in the
queue that a stranger takes is never one of theirs.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


class QueueFull(Exception):
    """The queue has no place. `own` is true when this source already waits too often, rather than
    everybody together.
    """

    def __init__(self, own: bool) -> None:
        self.own = own
        super().__init__("this address waits too often" if own else "too many wait")


@dataclass(frozen=True)
class Place:
    """A place in the queue."""

    source: str
    known: bool


_HERE = Place("here", known=True)


class HashingQueue:
    """A lock with two bounded first-come, first-served queues; the queue of the known goes first. For
    threads.
    """

    def __init__(self, most_strangers: int = 8, most_known: int = 8, most_of_a_source: int = 2) -> None:
        self._most = {False: most_strangers, True: most_known}
        self._most_of_a_source = most_of_a_source
        self._changed = threading.Condition()
        self._places: Counter[Place] = Counter()
        self._waiting: dict[bool, deque[object]] = {False: deque(), True: deque()}
        self._holder: int | None = None
        self._place: ContextVar[Place | None] = ContextVar("place", default=None)

    @contextmanager
    def place(self, source: str, known: bool) -> Iterator[None]:
        """Hold a place for the block. Raises QueueFull at once when there is none."""
        place = Place(source, known)
        with self._changed:
            if self._places[place] >= self._most_of_a_source:
                raise QueueFull(own=True)
            if sum(count for one, count in self._places.items() if one.known == known) >= self._most[known]:
                raise QueueFull(own=False)
            self._places[place] += 1
        token = self._place.set(place)
        try:
            yield
        finally:
            self._place.reset(token)
            with self._changed:
                self._places[place] -= 1
                if not self._places[place]:
                    del self._places[place]

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn and hash inside; within a turn this does nothing.

        A caller without a place, such as a command or a user who sets a password, waits among the known.
        """
        me = threading.get_ident()
        if self._holder == me:
            yield
            return
        place = self._place.get() or _HERE
        ticket = object()
        with self._changed:
            self._waiting[place.known].append(ticket)
            try:
                self._changed.wait_for(lambda: self._holder is None and self._next() is ticket)
            finally:
                self._waiting[place.known].remove(ticket)
            self._holder = me
        try:
            yield
        finally:
            with self._changed:
                self._holder = None
                self._changed.notify_all()

    def _next(self) -> object:
        return (self._waiting[True] or self._waiting[False])[0]


queue = HashingQueue()
"""The queue of this process."""
