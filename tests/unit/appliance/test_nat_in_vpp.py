"""What is asked of VPP about the sessions of NAT, and what is left out, on tables of any size."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any

import pytest

from appliance.actions.nat import ClearNatSessions
from appliance.features.nat import vpp_sessions
from appliance.features.nat.vpp_sessions import counted, end_sessions, find, table, users
from appliance.state.nat import NatSessionsQuery
from vpp_config.client import VppClient
from vpp_config.fake import FakeVpp
from vpp_config.fake.nat_calls import translate
from vpp_config.nat_sessions import NatTable


class Asked(FakeVpp):
    """Writes down what it is asked about sessions."""

    def __init__(self) -> None:
        super().__init__()
        self.questions: list[str] = []

    def dump(self, name: str, **fields: Any) -> list[Any]:
        self.questions.append(" ".join([name, *map(str, fields.values())]))
        return super().dump(name, **fields)


@dataclass
class Vpp:
    """VPP as a view sees it."""

    client: VppClient
    read: NatTable
    names: Any = field(default=dict)

    def read_stats(self, _reader: Callable[[Any], Any]) -> Any:
        return self.read


def _host(number: int) -> IPv4Address:
    return IPv4Address("10.0.0.0") + number


def _vpp(hosts: dict[int, int], limit: int = 1000) -> tuple[Vpp, Asked]:
    """With this many sessions of each host, and the same number in the counters."""
    client = Asked()
    client.call("nat44_ed_plugin_enable_disable", enable=True, sessions=limit)
    translate(client, *(_session(host, port) for host, count in hosts.items() for port in range(count)))
    return Vpp(client, NatTable((sum(hosts.values()),), limit, 0)), client


def _session(host: int, port: int) -> dict[str, Any]:
    return {
        "inside_ip_address": _host(host),
        "inside_port": 1000 + port,
        "outside_ip_address": IPv4Address("192.0.2.2"),
        "outside_port": 1000 + port,
        "ext_host_address": IPv4Address("203.0.113.10"),
        "ext_host_port": 443,
        "protocol": 17,
        "flags": 0x80,
        "time_since_last_heard": 7,
        "is_timed_out": port == 0,
        "total_pkts": 3,
    }


def _asked_for(questions: Iterable[str]) -> list[str]:
    return [one.split()[1] for one in questions if one.startswith("nat44_user_session")]


def _seen(vpp: Any, **question: Any) -> tuple[int, list[str], str]:
    found = find(vpp, NatSessionsQuery(**question))
    return found.total, [f"{one.inside_address}:{one.inside_port}" for one in found.sessions], found.left_out


def test_a_page_asks_only_for_the_hosts_on_it() -> None:
    vpp, client = _vpp({1: 3, 2: 2, 3: 4, 10: 1})
    assert _seen(vpp, offset=4, limit=2) == (10, ["10.0.0.2:1001", "10.0.0.3:1000"], "")
    assert _asked_for(client.questions) == ["10.0.0.2", "10.0.0.3"]
    client.questions.clear()
    assert _seen(vpp, inside="10.0.0.10") == (1, ["10.0.0.10:1000"], "")
    assert client.questions == ["nat44_user_session_v3_dump 10.0.0.10 0"], "nothing else is asked"
    assert _seen(vpp, inside="10.0.0.77") == (0, [], "")
    client.questions.clear()
    assert _seen(vpp, port=1003, limit=1) == (1, ["10.0.0.3:1003"], "")
    assert _asked_for(client.questions) == ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.10"]


def test_a_reading_walks_over_the_table_so_often_and_says_where_it_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vpp_sessions, "MOST_WALKED", 25)
    monkeypatch.setattr(vpp_sessions, "MOST_WALKED_TO_CLEAR", 22)
    vpp, client = _vpp({1: 3, 2: 2, 3: 4, 10: 1})
    total, shown, left_out = _seen(vpp, port=1000)
    assert (total, shown) == (2, ["10.0.0.1:1000", "10.0.0.2:1000"])
    assert left_out.startswith("5 sessions, of hosts from 10.0.0.3 on, were not read")
    assert _asked_for(client.questions) == ["10.0.0.1", "10.0.0.2"]
    # A page past the limit is shorter, and the total is known all the same.
    total, shown, left_out = _seen(vpp, offset=2, limit=7)
    assert (total, shown) == (10, ["10.0.0.1:1002", "10.0.0.2:1000", "10.0.0.2:1001"])
    assert left_out.startswith("4 sessions, of hosts from 10.0.0.3 on, were not read")
    assert _seen(vpp, port=1000, inside="10.0.0.10") == (1, ["10.0.0.10:1000"], "")
    assert counted(vpp, 9) is None
    assert counted(vpp, 100) is None, "not all of them can be read"
    # What was ended need not be walked over: three hosts instead of two.
    ended = end_sessions(vpp, ClearNatSessions(remote_port=443))
    assert (ended.sessions, ended.left_out.split(",")[0]) == (9, "1 session")


def test_a_host_with_very_many_is_only_asked_for_by_name_and_to_clear(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vpp_sessions, "MOST_OF_HOST", 3)
    vpp, client = _vpp({1: 5, 2: 2, 3: 4})
    total, shown, left_out = _seen(vpp)
    assert (total, shown) == (2, ["10.0.0.2:1000", "10.0.0.2:1001"])
    assert left_out.startswith("The 5 sessions of 10.0.0.1 and of 1 other host were not read")
    assert _asked_for(client.questions) == ["10.0.0.2"]
    assert _seen(vpp, inside="10.0.0.3", limit=1, offset=3) == (4, ["10.0.0.3:1003"], "")
    assert users(vpp) == {"10.0.0.1": 5, "10.0.0.2": 2, "10.0.0.3": 4}
    assert end_sessions(vpp, ClearNatSessions(inside="10.0.0.1")).sessions == 5
    assert end_sessions(vpp, ClearNatSessions(all=True)).sessions == 6
    assert users(vpp) == {}


def test_hundreds_are_ended_in_parts() -> None:
    vpp, _ = _vpp({1: 700})
    assert end_sessions(vpp, ClearNatSessions(all=True)).sessions == 700


def test_all_are_counted_where_they_are_few() -> None:
    vpp, client = _vpp({1: 3, 2: 2})
    assert len(counted(vpp, 5) or ()) == 5
    client.questions.clear()
    assert counted(vpp, 4) is None
    assert client.questions == []


@pytest.mark.parametrize(
    ("held", "in_use", "limit", "fullness"),
    [
        ((0,), 0, 100, 0.0),
        ((50,), 47, 100, 0.47),
        ((100,), 97, 100, 0.97),
        # A host cannot use the places of another worker.
        ((90, 10), 97, 200, 0.873),
    ],
)
def test_sessions_that_timed_out_take_no_place(
    held: tuple[int, ...], in_use: int, limit: int, fullness: float
) -> None:
    vpp, client = _vpp({1: 2, 2: 2, 3: 2})
    vpp.read = NatTable(held, 100, 7)
    state = table(vpp, closely=True)
    assert (state.in_use, state.limit, state.refused) == (in_use, limit, 7)
    assert state.fullness == pytest.approx(fullness)
    assert client.questions == [], "it is no question about sessions"


def test_a_table_that_does_not_fill_up_costs_vpp_nothing() -> None:
    vpp, client = _vpp({1: 2})
    vpp.read = NatTable((79,), 100, 0)
    client.stop()
    assert table(vpp, closely=False).fullness == pytest.approx(0.79)
