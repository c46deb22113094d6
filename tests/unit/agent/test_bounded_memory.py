"""What the agent keeps and sends of counters: bytes that do not depend on the number of rules."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from typing import Any

import pytest

from appliance.agent.hits import Hits
from appliance.agent.samples import KEPT, Samples
from appliance.dataplane.base import Counters, InterfaceCounters, RuleCounters
from appliance.dataplane.linux.backend import LinuxDataplane
from appliance.dataplane.linux.dump import Dump, LinkRow
from appliance.errors import NotFound, ValidationFailed
from appliance.state.counter_selection import EVERYTHING, INTERFACE_COUNTERS, Selection, parse

RULES = 10_000


def _sample(number: int, interfaces: int = 10) -> dict[str, Any]:
    one = InterfaceCounters(**dict.fromkeys(INTERFACE_COUNTERS, 2**40 + number))
    return {"time": float(number), **Counters({f"if{n}": one for n in range(interfaces)}).to_json()}


def _plane(rules: int, monkeypatch: pytest.MonkeyPatch) -> LinuxDataplane:
    """The linux data plane with ten links and this many rules, without a kernel."""
    plane = LinuxDataplane("nowhere")
    hits = {"edge": {number: RuleCounters(number, number) for number in range(rules)}}
    message = {"attrs": [("IFLA_STATS64", {"rx_packets": 7})]}
    rows = {number: LinkRow(number, f"if{number}", 1500, True, "", {}, message) for number in range(10)}
    for inside in (plane._views, plane._counting):
        monkeypatch.setattr(inside, "run", lambda work, *arguments: work(*arguments))
    for filters in (plane._seen.filters, plane._counted.filters):
        monkeypatch.setattr(filters, "hits", lambda: (hits, 3))
    monkeypatch.setattr(Dump, "ours", rows)
    return plane


def test_a_sample_is_as_large_with_ten_thousand_rules_as_with_none(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {}
    for rules in (0, RULES):
        plane = _plane(rules, monkeypatch)
        samples = Samples(plane.counters)
        samples.add({"time": 1.0, **plane.counters()})
        sizes[rules] = [
            len(samples.latest() or b""),
            len(samples.latest(Selection(frozenset(["drops"]))) or b""),
        ]
        assert len(plane.acl_hits()["edge"]) == rules
    assert sizes[0] == sizes[RULES] and sizes[0][0] < 3000 and sizes[0][1] < 200


def test_the_ring_holds_64_bytes_for_each_interface_and_second() -> None:
    def grown(interfaces: int) -> int:
        samples = Samples(dict)
        samples.add(_sample(0, interfaces))
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(1, 2 * KEPT):
            samples.add(_sample(number, interfaces))
        size = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert len(samples.since(0)) == KEPT
        return size

    few, many = grown(10), grown(110)
    per_interface = (many - few) / 100 / KEPT
    assert per_interface < 80, per_interface
    assert few < KEPT * (10 * 80 + 400), few


def test_what_is_kept_reads_as_it_was_taken() -> None:
    samples = Samples(dict)
    for number in (1, 2, 3):
        samples.add(_sample(number, 2))
    kept = [one.sample() for one in samples.since(1.0)]
    assert [one["time"] for one in kept] == [2.0, 3.0]
    assert kept[1]["interfaces"] == _sample(3, 2)["interfaces"]
    only = Selection(frozenset(["rx_bytes"]), frozenset(["if1", "gone"])).of(kept[1])
    assert only == {"time": 3.0, "interfaces": {"if1": {"rx_bytes": 2**40 + 3}}}


async def test_a_stream_goes_on_when_the_clock_is_set_back() -> None:
    samples = Samples(dict)
    samples.add(_sample(5000))
    number, _ = await samples.following(0)
    samples.add(_sample(1400))  # an hour earlier
    async with asyncio.timeout(5):
        number, text = await samples.following(number)
    assert json.loads(text)["time"] == 1400.0


async def test_who_comes_late_gets_the_newest_and_everybody_the_same_bytes() -> None:
    samples = Samples(dict)
    for moment in (1, 2, 3):
        samples.add(_sample(moment))
    _, text = await samples.following(1)
    assert json.loads(text)["time"] == 3.0
    assert samples.latest() is text
    for many in range(1000):
        samples.latest(Selection(interfaces=frozenset([f"if{many}"])))
    assert len(samples._encoded) <= 32


def test_many_who_ask_for_hits_cost_one_reading_a_second() -> None:
    reads: list[float] = []
    now = [100.0]

    def read() -> dict[str, dict[int, RuleCounters]]:
        reads.append(now[0])
        return {"edge": {10: RuleCounters(3, 300), 20: RuleCounters(4, 400)}}

    hits = Hits(read, lambda: now[0])
    assert hits.totals()["acls"] == {"edge": {"rules": 2, "packets": 7, "bytes": 700, "cleared": None}}
    for _ in range(50):
        assert hits.of("edge")["rules"]["10"] == {"packets": 3, "bytes": 300}
    assert reads == [100.0]
    now[0] = 101.0
    hits.totals()
    assert reads == [100.0, 101.0]
    with pytest.raises(NotFound):
        hits.of("other")


@pytest.mark.parametrize(
    ("fields", "interfaces", "pointer"),
    [
        ("rx_bytes,secrets", None, "/fields"),
        ("", None, "/fields"),
        (None, "", "/interfaces"),
        (None, "a b", "/interfaces"),
        (None, "x" * 16, "/interfaces"),
        (None, ",".join(f"if{n}" for n in range(65)), "/interfaces"),
    ],
)
def test_what_is_asked_for_is_checked(fields: str | None, interfaces: str | None, pointer: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        parse(fields, interfaces)
    assert refused.value.problems[0].pointer == pointer


def test_a_selection_says_itself_in_a_query() -> None:
    some = Selection(frozenset(["rx_bytes", "drops"]), frozenset(["wan0", "lan0"]))
    assert some.query() == {"fields": "drops,rx_bytes", "interfaces": "lan0,wan0"}
    assert parse(**some.query()) == some and parse(None, None) == EVERYTHING and EVERYTHING.query() == {}
