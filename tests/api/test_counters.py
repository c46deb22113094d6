"""Counters: the latest, over time, as a stream, for Prometheus."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from appliance.errors import AgentUnavailable
from tests.api.conftest import ApiClient
from tests.api.router_in_memory import RouterInMemory


def test_the_latest_sample(viewer: ApiClient, router: RouterInMemory) -> None:
    router.wait_sampled()
    sample = viewer.get("counters").body
    assert sample["interfaces"]["lan0"]["rx_packets"] >= 100
    assert set(sample) == {"time", "interfaces", "workers", "drops", "cleared"}
    some = viewer.get("counters?fields=rx_packets,workers&interfaces=lan0,other").body
    assert set(some) == {"time", "interfaces", "workers"} and set(some["interfaces"]) == {"lan0"}
    assert set(some["interfaces"]["lan0"]) == {"rx_packets"}


def test_the_hits_of_rules_are_read_now_and_apart(viewer: ApiClient, router: RouterInMemory) -> None:
    router.wait_sampled()
    hits = viewer.get("counters/acls/edge-in").body
    assert hits["rules"]["10"]["packets"] >= 100
    assert viewer.get("counters/acls").body["acls"] == {
        "edge-in": {"rules": 1, **hits["rules"]["10"], "cleared": None}
    }
    assert viewer.get("counters/acls/other").status == 404
    assert viewer.get("counters/acls/..").status in (404, 422)
    assert viewer.get("counters/acls/%2e%2e").status in (404, 422)
    page = viewer.get("/metrics").body.decode()
    assert 'millrace_acl_packets_total{acl="edge-in"}' in page


@pytest.mark.parametrize("path", ["counters", "counters/history", "counters/stream"])
@pytest.mark.parametrize(
    "query", ["fields=secrets", "fields=", "fields=rx_bps,", "interfaces=a,,b", "interfaces=a%20b"]
)
def test_what_is_asked_for_is_checked(viewer: ApiClient, path: str, query: str) -> None:
    answer = viewer.get(f"{path}?{query}")
    assert answer.status == 422 and answer.body["errors"][0]["pointer"] == f"/{query.partition('=')[0]}"


def test_history_has_the_columns_and_interfaces_that_are_asked_for(
    viewer: ApiClient, router: RouterInMemory
) -> None:
    router.wait_sampled(3)
    body = viewer.get("counters/history?range=5m&fields=rx_pps&interfaces=lan0").body
    assert set(body["interfaces"]) == {"lan0"} and set(body["interfaces"]["lan0"]) == {"rx_pps"}
    assert any(body["interfaces"]["lan0"]["rx_pps"])


def test_the_last_five_minutes_come_from_the_agent(viewer: ApiClient, router: RouterInMemory) -> None:
    router.wait_sampled(3)
    body = viewer.get("counters/history?range=5m").body
    assert body["step_s"] == 1 and len(body["time"]) == 300
    rates = [value for value in body["interfaces"]["lan0"]["rx_pps"] if value is not None]
    assert rates and all(50 < value < 200 for value in rates)


def _samples(start_s: int, seconds: int) -> list[dict[str, Any]]:
    """100 packets of 125 bytes each second: 100 kbit/s."""
    return [
        {
            "time": start_s + n,
            "interfaces": {"lan0": {"rx_bytes": n * 12500, "rx_packets": n * 100, "tx_bytes": 0}},
        }
        for n in range(seconds)
    ]


def test_roll_ups_are_stored_once_and_rolled_up_further(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from webui.metrics import history, sampler
    from webui.metrics.models import RollUp

    class Agent:
        now = 7200

        def counters_history(self, seconds: int, selection: Any) -> list[dict[str, Any]]:
            return [one for one in _samples(3600, 10_000) if Agent.now - seconds <= one["time"] <= Agent.now]

    monkeypatch.setattr(sampler, "agent", Agent)
    first = sampler.sample(7200)
    assert first >= 29 and sampler.sample(7200) == 0
    for Agent.now in range(7260, 7200 + 3720, 60):
        sampler.sample(Agent.now)
    assert {row.rx_bps for row in RollUp.objects.all()} == {100_000.0}
    assert RollUp.objects.filter(step_s=60).count() >= 60
    assert RollUp.objects.get(step_s=3600, time=7200).rx_pps == 100.0
    assert (
        RollUp.objects.filter(step_s=10).count()
        == RollUp.objects.filter(step_s=10).values("time").distinct().count()
    )

    for name, step in (("1h", 10), ("24h", 60), ("30d", 3600)):
        body = history.history(name, now_s=Agent.now)
        column = body["interfaces"]["lan0"]["rx_bps"]
        assert body["step_s"] == step and len(column) == len(body["time"]) == history.RANGES[name][0] // step
        assert {value for value in column if value is not None} == {100_000.0}
        assert column[-2] is not None or name == "1h", name
    sampler.forget_old(Agent.now + 40 * 24 * 3600)
    assert RollUp.objects.count() == 0


def test_prometheus(viewer: ApiClient, router: RouterInMemory) -> None:
    router.wait_sampled()
    page = viewer.get("/metrics")
    text = page.body.decode()
    assert page.status == 200 and "millrace_up 1.0" in text
    assert 'millrace_interface_rx_packets_total{interface="lan0"}' in text
    assert 'millrace_acl_rule_packets_total{acl="edge-in",sequence="10"}' in text
    assert ApiClient().get("/metrics").status == 401
    assert viewer("POST", "/metrics", {}).status == 405
    router.stop()
    assert "millrace_up 0.0" in viewer.get("/metrics").body.decode()


class _Upstream:
    """An agent whose stream gives two samples and ends."""

    opened = 0
    closed = 0

    async def counters_stream(self) -> AsyncIterator[dict[str, Any]]:
        _Upstream.opened += 1
        for number in range(2):
            await asyncio.sleep(0.02)
            yield {"time": number}
        raise AgentUnavailable("gone")

    async def aclose(self) -> None:
        _Upstream.closed += 1


async def test_one_upstream_serves_all_listeners_and_ends_with_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from webui.metrics import live

    _Upstream.opened = _Upstream.closed = 0
    shared = live.Broadcast(_Upstream)
    monkeypatch.setattr(live, "broadcast", lambda: shared)

    async def listen(count: int) -> list[bytes]:
        stream = live.events()
        got = [await anext(stream) for _ in range(count)]
        await stream.aclose()  # type: ignore[attr-defined]  # an async generator, typed as an iterator
        return got

    first, second = await asyncio.gather(listen(4), listen(4))
    assert first == second
    assert [line.decode().split("\n")[0] for line in first] == [
        "retry: 2000",
        "event: sample",
        "event: sample",
        "event: gap",
    ]
    assert json.loads(first[1].decode().split("data: ")[1]) == {"time": 0}
    assert _Upstream.opened == 1
    await asyncio.sleep(0.05)
    assert shared.listeners == 0 and _Upstream.closed == 1


async def test_a_silent_stream_beats_and_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from webui.metrics import live

    class Silent(_Upstream):
        async def counters_stream(self) -> AsyncIterator[dict[str, Any]]:
            await asyncio.sleep(60)
            yield {}

    shared = live.Broadcast(Silent)
    monkeypatch.setattr(live, "broadcast", lambda: shared)
    got = [one async for one in live.events(longest_s=0.25, heartbeat_s=0.1)]
    assert got[1:].count(b": still here\n\n") >= 2
    assert shared.listeners == 0
