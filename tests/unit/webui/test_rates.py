"""From counters to rates."""

from __future__ import annotations

from typing import Any

from webui.metrics.rates import between, bucket, mean


def _sample(time: float, packets: int) -> dict[str, Any]:
    return {"time": time, "interfaces": {"lan0": {"rx_packets": packets, "rx_bytes": packets * 100}}}


def test_a_rate_is_a_difference_over_time() -> None:
    rates = between(_sample(10, 0), _sample(12, 100))["lan0"]
    assert (rates["rx_pps"], rates["rx_bps"], rates["tx_bps"]) == (50.0, 40_000.0, 0.0)


def test_counters_that_went_back_give_nothing() -> None:
    assert between(_sample(10, 100), _sample(11, 5)) == {}
    assert between(_sample(10, 100), _sample(10, 200)) == {}
    assert between({"time": 1, "interfaces": {}}, _sample(2, 5)) == {}


def test_a_bucket_needs_samples_over_half_of_it() -> None:
    samples = [_sample(100 + second, second) for second in range(11)]
    assert bucket(samples, 100, 10)["lan0"]["rx_pps"] == 1.0
    assert bucket(samples[:4], 100, 10) == {}
    assert bucket([], 100, 10) == {}


def test_mean() -> None:
    rows = [between(_sample(0, 0), _sample(1, n))["lan0"] for n in (10, 30)]
    assert mean(rows)["rx_pps"] == 20.0
