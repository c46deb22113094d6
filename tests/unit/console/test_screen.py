"""The status screen: its content, and that it always fits."""

from __future__ import annotations

import pytest

from appliance.console.screen import MENU, lines, messages
from appliance.console.status import Status

FULL = Status(
    hostname="r1",
    version="1.2.3",
    made_of="VPP 26.06-release, Debian 13.2",
    device="ens3",
    mac="52:54:00:00:00:03",
    link="up",
    addresses=("192.0.2.10/24", "2001:db8::10/64"),
    method="static",
    fingerprint=":".join(["AB"] * 32),
    agent="revision 7 on vpp, healthy",
    services=(("agent", "active"), ("VPP", "active"), ("web", "activating")),
    slots="a: 1.2.3 (running, trusted)  b: empty",
)


def test_it_says_where_to_go() -> None:
    text = "\n".join(lines(FULL))
    for words in (
        "Millrace 1.2.3 (VPP 26.06-release, Debian 13.2)",
        "https://192.0.2.10/  https://[2001:db8::10]/",
        "ens3 52:54:00:00:00:03 up, static",
        "192.0.2.10/24  2001:db8::10/64",
        "revision 7 on vpp, healthy",
        "VPP active, web activating",
        "b: empty",
    ):
        assert words in text
    assert lines(FULL)[0].endswith(" r1")
    assert "".join(line.strip() for line in lines(FULL)).count("AB:AB") >= 10
    assert all(f"{key}  {word}" in text for key, word in MENU)


def test_on_a_narrow_screen_the_name_goes_before_what_it_is_made_of() -> None:
    assert lines(FULL, 40)[0] == f"Millrace 1.2.3{'r1':>26}"


def test_a_generated_password_is_shown_until_it_is_changed() -> None:
    shown = lines(Status(password="abcde-fghij-klmno-pqrst"))
    assert "Sign in       admin / abcde-fghij-klmno-pqrst" in shown
    assert not any(" / " in line for line in lines(FULL))


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (80, 25), (132, 43), (40, 24), (80, 10)])
def test_it_fits(columns: int, rows: int) -> None:
    worst = Status(
        hostname="r" * 63,
        version="1" * 60,
        device="enp0s31f6",
        mac="52:54:00:00:00:03",
        link="up",
        addresses=tuple(f"2001:db8:1234:5678:9abc:def0:1234:{n:04x}/128" for n in range(12)),
        fingerprint=":".join(["AB"] * 32),
        agent="x " * 200,
        services=tuple((f"service {n}", "activating") for n in range(20)),
        password="abcde-fghij-klmno-pqrst",
        problems=tuple("a long problem " * 20 for _ in range(10)),
    )
    for status in (worst, FULL, Status()):
        drawn = lines(status, columns, rows)
        assert len(drawn) < rows
        assert max(map(len, drawn)) <= columns
        assert all(any(f"{key}  {word}" in line for line in drawn) for key, word in MENU)


def test_no_text_drives_the_terminal() -> None:
    hostile = "\x1b[2J\x07\x9b31m\u202eevil\r\n"
    drawn = lines(Status(hostname=hostile, agent=hostile, addresses=(hostile,), problems=(hostile,)))
    drawn += messages(Status(problems=(hostile,)))
    assert all(" " <= letter <= "~" for line in drawn for letter in line)


def test_messages_are_whole() -> None:
    problem = " ".join(f"word{n}" for n in range(60))
    assert " ".join(messages(Status(problems=(problem,)), 40)) == problem
    assert messages(Status()) == ["There are no messages."]
    assert messages(Status(problems=("wrong",), remarks=("passed over",))) == ["wrong", "passed over"]
    assert not any("passed over" in line for line in lines(Status(remarks=("passed over",))))
