"""One password at a time, the known first, and no place beyond the bound."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import pytest

from webui.accounts.hashing_queue import HashingQueue, QueueFull


def _in_thread(act: object) -> threading.Thread:
    thread = threading.Thread(target=act)  # type: ignore[arg-type]  # any callable
    thread.start()
    return thread


def test_one_source_takes_two_places_and_no_more() -> None:
    queue = HashingQueue(most_strangers=3)
    with ExitStack() as held:
        held.enter_context(queue.place("192.0.2.1", known=False))
        held.enter_context(queue.place("192.0.2.1", known=False))
        with pytest.raises(QueueFull) as full, queue.place("192.0.2.1", known=False):
            pass
        assert full.value.own
        held.enter_context(queue.place("192.0.2.2", known=False))
        with pytest.raises(QueueFull) as full, queue.place("192.0.2.3", known=False):
            pass
        assert not full.value.own
        # Strangers fill their own queue, and nobody else's: not even for the same address.
        with queue.place("192.0.2.1", known=True):
            pass
    with queue.place("192.0.2.3", known=False):
        pass


def test_one_at_a_time_and_the_known_first() -> None:
    queue = HashingQueue()
    order: list[str] = []
    running = 0
    most = 0

    def hashing(name: str, known: bool) -> None:
        nonlocal running, most
        with queue.place(name, known), queue.turn():
            running += 1
            most = max(most, running)
            order.append(name)
            running -= 1

    with queue.turn():
        threads = [_in_thread(lambda name=name: hashing(name, False)) for name in ("a", "b", "c")]
        _until(lambda: len(queue._waiting[False]) == 3)
        threads.append(_in_thread(lambda: hashing("known", True)))
        _until(lambda: len(queue._waiting[True]) == 1)
    for thread in threads:
        thread.join(10)
    assert order[0] == "known" and sorted(order[1:]) == ["a", "b", "c"]
    assert most == 1


def test_a_turn_within_a_turn_is_the_same() -> None:
    queue = HashingQueue()
    with queue.turn(), queue.turn():
        pass
    with queue.turn():
        pass


def test_the_turn_ends_with_what_fails_in_it() -> None:
    queue = HashingQueue()
    with pytest.raises(ValueError, match="x"), queue.turn():
        raise ValueError("x")
    with queue.turn():
        pass


def _until(condition: object) -> None:
    done = threading.Event()
    for _ in range(1000):
        if condition():  # type: ignore[operator]  # any callable
            return
        done.wait(0.01)
    raise AssertionError("did not come")
