"""Numbers, times and counts as pages write them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from appliance.state.logs import LogLine
from webui.ui.shell import Shell
from webui.ui.tables.declaration import Offer
from webui.ui.tables.offers import ShownOffer, _shown, _without_empty
from webui.ui.templatetags.ui import clock, duration, grouped
from webui.ui.views.logs import with_days
from webui.ui.views.routes import _seconds


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0:00"), (59, "0:59"), (3599, "59:59"), (7205, "2:00:05"), (None, "\u2013")]
)
def test_a_countdown_has_hours_where_there_are_any(seconds: float | None, said: str) -> None:
    assert clock(seconds) == said


def test_numbers_are_written_as_the_agents_sentences_write_them() -> None:
    assert grouped(1234567) == f"{1234567:,}" == "1,234,567"


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"critical": 1, "minor": 3}, "1 critical, 3 minor"),
        ({"major": 4, "warning": 2}, "4 major, 2 warnings"),
        ({"warning": 1}, "1 warning"),
    ],
)
def test_severities_are_counted_in_english(counts: dict[str, int], said: str) -> None:
    shell: Any = SimpleNamespace(alarms={"counts": counts})
    assert vars(Shell)["health_word"].fget(shell) == said


@pytest.mark.parametrize(
    ("uptime", "said"),
    [
        ("00:04:09", "4m 9s"),
        ("1d02h03m", "1d 2h"),
        ("01w2d03h", "1w 2d"),
        (340.2, "5m 40s"),
        (None, "\u2013"),
        ("soon", "\u2013"),
    ],
)
def test_a_routes_age_is_a_duration(uptime: str | float | None, said: str) -> None:
    assert duration(_seconds(uptime)) == said


def test_a_day_is_named_once() -> None:
    times = (None, "2026-11-26T23:59:59Z", None, "2026-11-26T23:59:59Z", "2026-11-27T00:00:00Z")
    lines = [LogLine(part="vpp", text="x", at=at) for at in times]
    assert [day for day, _ in with_days(lines)] == ["", "2026-11-26", "", "", "2026-11-27"]


def test_an_offer_names_who_has_taken_it_and_empty_columns_are_left_out() -> None:
    offers = [
        Offer({"mac": "02:00:00:00:00:01"}, ("eth0", "", "virtio"), ({"device": "eth0"},)),
        Offer({"mac": "02:00:00:00:00:02"}, ("eth1", "", "virtio")),
    ]
    taken = [("wan0", {"device": "eth0"})]
    shown = _without_empty(
        ("Name", "PCI", "Driver", "Used by"),
        tuple(_shown(one, {"mac": "02:00:00:00:00:02"}, taken) for one in offers),
    )
    assert shown.heads == ("Name", "Driver", "Used by")
    assert shown.rows == (
        ShownOffer('{"mac": "02:00:00:00:00:01"}', ("eth0", "virtio", "wan0"), False),
        ShownOffer('{"mac": "02:00:00:00:00:02"}', ("eth1", "virtio", ""), True),
    )
