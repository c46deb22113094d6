"""Guessing passwords is slow for the guesser and cheap for the router, and never locks out known users."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import Any

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher, identify_hasher
from django.test import Client, RequestFactory

from webui.accounts import password_hasher
from webui.accounts.attempt_limits import Attempts
from webui.accounts.hashing_queue import queue
from webui.accounts.sign_in_gate import (
    OF_A_NEWCOMER,
    OF_A_SOURCE,
    OF_A_USER,
    OF_NEWCOMERS_AT_A_USER,
    Attempt,
    gate,
)
from webui.accounts.sign_in_tally import MOST_KEYS, OTHERS, tally

GOOD = "Correct-Horse-9-Battery"


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time passes for the limits, however slow the machine is."""
    for attempts in vars(gate).values():
        if isinstance(attempts, Attempts):
            monkeypatch.setattr(attempts, "_clock", lambda: 0.0)
    gate.forget()


@pytest.fixture
def hashes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the calls of Argon2 without its cost; no password is right."""
    counted: list[int] = []

    def verify(*_: object) -> bool:
        counted.append(1)
        return False

    def encode(*_: object) -> str:
        counted.append(1)
        return "x"

    monkeypatch.setattr(Argon2PasswordHasher, "verify", verify)
    monkeypatch.setattr(Argon2PasswordHasher, "encode", encode)
    return counted


def _login(address: str, username: str, password: str = "wrong", client: Client | None = None) -> Any:
    return (client or Client()).post(
        "/login", {"username": username, "password": password}, secure=True, REMOTE_ADDR=address
    )


def _logout(browser: Client) -> None:
    """Unlike the client's own, this one keeps the other cookies, as a browser does."""
    assert browser.post("/logout", secure=True).status_code == 302


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2 in a hundredth of the time, for tests that need many right and wrong passwords."""
    monkeypatch.setattr(password_hasher.ApplianceArgon2Hasher, "memory_cost", 64)
    monkeypatch.setattr(password_hasher.ApplianceArgon2Hasher, "time_cost", 1)


@pytest.fixture
def erik(db: None) -> Any:
    from webui.accounts.models import User

    return User.objects.create_user("erik", GOOD, "admin")


def test_the_cost_is_what_an_appliance_can_bear_and_owasp_asks_for(erik: Any) -> None:
    assert erik.password.startswith("argon2$argon2id$") and "m=32768,t=3,p=1" in erik.password
    # OWASP's minimum: 19 MiB, two passes, one lane.
    hasher = password_hasher.ApplianceArgon2Hasher
    assert 19 * 1024 <= hasher.memory_cost <= 64 * 1024 and hasher.time_cost >= 2 and hasher.parallelism == 1


def test_an_older_hash_is_made_anew_at_the_next_login(erik: Any) -> None:
    erik.password = Argon2PasswordHasher().encode(GOOD, "somesalt12345678")
    erik.save()
    assert "m=102400" in erik.password
    assert _login("198.51.100.1", "erik", GOOD).status_code == 302
    erik.refresh_from_db()
    assert "m=32768,t=3,p=1" in erik.password
    assert isinstance(identify_hasher(erik.password), password_hasher.ApplianceArgon2Hasher)


def test_twelve_names_from_one_address_are_one_guesser(erik: Any, hashes: list[int]) -> None:
    statuses = [_login("198.51.100.1", f"name{n}").status_code for n in range(12)]
    assert statuses == [200] * OF_A_SOURCE.burst + [429] * (12 - OF_A_SOURCE.burst)
    assert len(hashes) == OF_A_SOURCE.burst
    answer = _login("198.51.100.1", "another")
    assert 1 <= int(answer.headers["Retry-After"]) <= OF_A_SOURCE.every_s
    assert _login("198.51.100.2", "another").status_code == 200


def test_a_64_is_one_address(erik: Any, hashes: list[int]) -> None:
    statuses = [_login(f"2001:db8::{n:x}", f"name{n}").status_code for n in range(12)]
    assert statuses[-1] == 429 and len(hashes) == OF_A_SOURCE.burst
    assert _login("2001:db8:0:1::1", "another").status_code == 200


def test_one_user_guessed_at_from_everywhere(erik: Any, hashes: list[int]) -> None:
    """A source has three tries of its own beyond the user's limit; all such sources share a limit, too."""
    tries = OF_A_USER.burst + 2 * OF_NEWCOMERS_AT_A_USER.burst
    statuses = [_login(f"198.51.{n // 250}.{n % 250}", "erik").status_code for n in range(tries)]
    looked_at = OF_A_USER.burst + OF_NEWCOMERS_AT_A_USER.burst
    assert statuses == [200] * looked_at + [429] * (tries - looked_at)
    assert len(hashes) == looked_at


def test_who_is_new_may_try_a_user_at_whom_others_guess_a_few_times(erik: Any, hashes: list[int]) -> None:
    for n in range(OF_A_USER.burst):
        _login(f"198.51.100.{n}", "erik")
    statuses = [_login("203.0.113.1", "erik").status_code for _ in range(6)]
    assert statuses[:4] == [200] * OF_A_NEWCOMER.burst + [429]
    assert 1 <= int(_login("203.0.113.1", "erik").headers["Retry-After"]) <= OF_A_USER.every_s


def test_who_tried_least_has_the_lowest_rank(erik: Any) -> None:
    def admitted(address: str) -> Attempt:
        return gate.admit(RequestFactory().post("/login", REMOTE_ADDR=address), "erik")

    ranks = [admitted(address).rank for address in ["198.51.100.1"] * 5]
    assert ranks == sorted(ranks) and ranks[0] == 0 < ranks[-1]
    # A new source in a network that guesses goes before the sources that guess, and after other networks.
    assert 0 == admitted("203.0.113.1").rank < admitted("198.51.100.2").rank < ranks[-1]
    # A customer has a /48: sixty-five thousand sources of one /64 each.
    assert admitted("2001:db8:0:1::1").rank == 0 < admitted("2001:db8:0:2::1").rank
    assert admitted("2001:db8:1:1::1").rank == 0


def test_unknown_users_cost_what_known_ones_do(erik: Any, hashes: list[int]) -> None:
    _login("198.51.100.1", "erik")
    known = len(hashes)
    _login("198.51.100.1", "nobody")
    assert len(hashes) == 2 * known == 2


def _attack(everybody: int = 40) -> None:
    for n in range(everybody):
        _login(f"198.51.100.{n}", "erik")


def test_the_users_own_browser_gets_in_during_an_attack_from_the_same_address(
    cheap: None, erik: Any, settings: Any
) -> None:
    browser = Client()
    assert _login("192.0.2.5", "erik", GOOD, browser).status_code == 302
    _logout(browser)
    _attack()
    for _ in range(settings.AXES_FAILURE_LIMIT + 4):
        _login("192.0.2.5", "erik")
    # Somebody else behind the same address is locked out; the browser that signed in before is not.
    assert _login("192.0.2.5", "erik", GOOD).status_code == 429
    assert _login("192.0.2.5", "erik", GOOD, browser).status_code == 302


def test_the_users_own_address_gets_in_during_an_attack_from_others(cheap: None, erik: Any) -> None:
    assert _login("192.0.2.5", "erik", GOOD).status_code == 302
    _attack()
    for _ in range(10):
        _login("192.0.2.6", "erik")
    assert _login("192.0.2.6", "erik", GOOD).status_code == 429
    assert _login("192.0.2.5", "erik", GOOD).status_code == 302


def test_a_new_address_gets_in_during_an_attack_from_others(cheap: None, erik: Any) -> None:
    _attack()
    assert _login("192.0.2.6", "erik", GOOD).status_code == 302


def test_other_names_from_the_users_own_address_do_not_lock_him_out(cheap: None, erik: Any) -> None:
    assert _login("192.0.2.5", "erik", GOOD).status_code == 302
    for n in range(30):
        _login("192.0.2.5", f"name{n}")
    assert _login("192.0.2.5", "erik", GOOD).status_code == 302


def test_a_known_browser_may_not_guess_for_ever(cheap: None, erik: Any) -> None:
    browser = Client()
    assert _login("192.0.2.5", "erik", GOOD, browser).status_code == 302
    _logout(browser)
    statuses = [_login("192.0.2.5", "erik", "wrong", browser).status_code for _ in range(60)]
    assert statuses[-1] in (429, 503)


def test_the_cookie_of_one_user_is_a_strangers_for_another(cheap: None, erik: Any) -> None:
    browser = Client()
    _login("192.0.2.5", "erik", GOOD, browser)
    _logout(browser)
    for n in range(OF_A_SOURCE.burst):
        _login("192.0.2.5", f"name{n}", client=browser)
    assert _login("192.0.2.5", "nobody", client=browser).status_code == 429
    forged = Client()
    forged.cookies["millrace_device"] = "WyJlcmlrIiwieCJd:1abc:forged"
    assert _login("192.0.2.5", "nobody", client=forged).status_code == 429


def test_a_full_queue_is_refused_at_once(erik: Any, hashes: list[int]) -> None:
    with ExitStack() as held:
        for n in range(8):
            held.enter_context(queue.place(f"198.51.100.{n}", known=False))
        assert _login("203.0.113.1", "erik").status_code == 503
    assert hashes == []
    assert _login("203.0.113.1", "erik").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_128_at_once_hash_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cost is judged by how many ran together, not by a clock."""
    running, most, total = 0, 0, 0
    lock = threading.Lock()

    def encode(*_: object) -> str:
        nonlocal running, most, total
        with lock:
            running, total = running + 1, total + 1
            most = max(most, running)
        threading.Event().wait(0.02)
        with lock:
            running -= 1
        return "x"

    monkeypatch.setattr(Argon2PasswordHasher, "encode", encode)
    statuses: list[int] = []

    def guess(number: int) -> None:
        from django.db import connections

        address = "198.51.100.1" if number < 108 else f"203.0.113.{number}"
        try:
            # A busy machine may not give each of 128 its connection to the database in time: 503.
            client = Client(raise_request_exception=False)
            statuses.append(_login(address, f"name{number}", client=client).status_code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=guess, args=(number,)) for number in range(128)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert most == 1 and total <= OF_A_SOURCE.burst + 20
    assert len(statuses) == 128 and set(statuses) <= {200, 429, 503} and statuses.count(429) > 50


def test_failures_are_counted_and_not_written_one_by_one(hashes: list[int], erik: Any) -> None:
    from webui.accounts.models import AuditEntry

    for _ in range(20):
        _login("198.51.100.1", "erik")
    # One failed, one refused, and no row for any of the others before the window is over.
    assert AuditEntry.objects.filter(username="erik").count() == 2
    tally.flush()
    entry = AuditEntry.objects.filter(username="erik").first()
    assert entry is not None and " more in 5 minutes" in entry.detail and entry.result == "failed"
    before = AuditEntry.objects.count()
    for n in range(20 * MOST_KEYS):
        tally.failed(f"other{n}", "203.0.113.1")
    tally.flush()
    assert AuditEntry.objects.filter(username=OTHERS).count() == 2
    assert AuditEntry.objects.count() - before == MOST_KEYS + 2
