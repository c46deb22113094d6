"""Viewers who alternate long tables share one feeder with the routes: both get on."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests import fpm_stream as fpm
from tests.integration.feeder.conftest import Bench

pytestmark = [pytest.mark.vpp, pytest.mark.root]

LAN, VRF = 1, 1001
_ROUTES = 20_000
_VIEWERS = 4
_MORE = 3_000


class _Viewer(threading.Thread):
    """Asks for the two tables in turn, and for both families' counts, until it is told to stop."""

    def __init__(self, bench: Bench, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self._bench, self._stop = bench, stop
        self.answers: list[tuple[str, dict[str, Any]]] = []

    def run(self) -> None:
        """Ask."""
        while not self._stop.is_set():
            for question in (
                f"routes ipv4 table={VRF} limit=10",
                "routes ipv4 missing limit=10",
                "protocols",
            ):
                self.answers.append((question, self._bench.feeder.ask(question)))


def test_routes_are_carried_while_viewers_alternate_two_long_tables(bench: Bench) -> None:
    named = {"table_id": VRF, "is_ip6": False, "name": "blue"}
    bench.client.call("ip_table_add_del_v2", is_add=True, create_mfib=True, table=named)
    zebra = bench.feeder.zebra()
    zebra.send(fpm.frame(fpm.next_hop(LAN, "192.0.2.2", bench.ifindex("lan0"))))
    zebra.send(fpm.many_ipv4(_ROUTES, LAN))
    zebra.send(fpm.frame(fpm.route(f"20.{at >> 8}.{at & 255}.0/24", LAN, table=VRF)) for at in range(_ROUTES))
    bench.feeder.barrier(120)
    before = bench.feeder.status()["lag"]
    stop = threading.Event()
    viewers = [_Viewer(bench, stop) for _ in range(_VIEWERS)]
    for viewer in viewers:
        viewer.start()
    try:
        # Each burst is in VPP before the next one is sent, with views under way all the while.
        for burst in range(3):
            zebra.send(fpm.many_ipv4(_MORE // 3, LAN, first=(48 << 24) + (burst << 20)))
            bench.feeder.barrier(60)
            assert all(viewer.is_alive() for viewer in viewers)
    finally:
        stop.set()
    for viewer in viewers:
        viewer.join(60)
        assert not viewer.is_alive()
    status = bench.feeder.status()
    assert status["ipv4"]["in_vpp"] == 2 * _ROUTES + _MORE
    after = status["lag"]
    answers = [answer for viewer in viewers for answer in viewer.answers]
    counts = [now - then for now, then in zip(after["counts"], before["counts"], strict=True)]
    print(f"{len(answers)} views; lag by ms {after['bounds_ms']}: {counts}", flush=True)
    refused = [answer for _, answer in answers if "error" in answer]
    assert refused == []
    for question, answer in answers:
        if f"table={VRF}" in question:
            assert (answer["total"], len(answer["routes"])) == (_ROUTES, 10)
    assert len(answers) >= 3 * _VIEWERS
