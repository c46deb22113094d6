"""RIB, kernel and FIB compared in portions: which results are accepted, and the queries this takes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from typing import Any

from appliance.agent.route_lists import LISTED
from appliance.agent.route_proof import BELIEVED, MOST_SUSPECTS, PORTION, ROUND_S, RouteProof
from appliance.config.load import parse_document
from appliance.dataplane.route_answer import Entry, NextHop, RouteAnswer
from appliance.engine.backend import BackendUnavailable
from appliance.health.check import Look
from appliance.health.forwarding import differing
from appliance.routing.rows import Family, RibRow
from appliance.state.routes import RibHop, RouteCount

HOP = "192.0.2.1"


class _Router:
    """A router with this many IPv4 routes, some of which its FIB lacks."""

    kernel_forwards = False

    def __init__(self, routes: int, listed: bool = True) -> None:
        self.prefixes = [f"10.{at >> 8}.{at & 255}.0/24" for at in range(routes)]
        self.count = routes if listed else LISTED + 1
        self.missing: set[str] = set()
        self.now_s = 1000.0
        self.walks = 0
        self.asked = 0
        self.looked_up: list[str] = []

    def clock(self) -> float:
        return self.now_s

    def _row(self, prefix: str) -> RibRow:
        return RibRow(prefix, "bgp", (RibHop(address=HOP, active=True),))

    def in_vrf(self, vrf: str) -> _Router:
        assert not vrf
        return self

    def rib_counts(self, family: Family) -> dict[str, RouteCount]:
        self.walks += 1
        return {"bgp": RouteCount(rib=self.count, fib=self.count)} if family == "ipv4" else {}

    def rib_list(self, family: Family, protocol: str | None, most: int) -> Sequence[RibRow] | None:
        del family, protocol, most
        return [*map(self._row, self.prefixes), RibRow("fe80::/64", "connected")]

    def rib_entry(self, destination: str) -> Sequence[RibRow]:
        self.asked += 1
        return [self._row(found)] if (found := self._found(destination)) else []

    def _found(self, destination: str) -> str:
        if "/" in destination:
            return destination if destination in self.prefixes else ""
        address = ip_address(destination)
        return next((one for one in self.prefixes if address in ip_network(one)), "")

    def kernel_routes(self, destinations: Sequence[str]) -> list[RouteAnswer]:
        return [self._entry(destination) for destination in destinations]

    def fib(self, destinations: Sequence[str]) -> list[RouteAnswer]:
        self.looked_up += destinations
        return [
            None if self._found(destination) in self.missing else self._entry(destination)
            for destination in destinations
        ]

    def _entry(self, destination: str) -> RouteAnswer:
        found = self._found(destination)
        return Entry(found, "unicast", (NextHop(HOP, "wan0", 1),)) if found else None


def _proof(router: Any) -> RouteProof:
    return RouteProof(router, router, router.clock, random.Random(7))


def test_what_somebody_saw_differ_is_looked_at_first() -> None:
    router = _Router(5 * PORTION)
    router.missing = {"10.3.1.0/24"}
    proof = _proof(router)
    proof.look()
    proof.suspect("10.3.1.0/24")
    proof.suspect("10.0.0.0/24")
    for _ in range(BELIEVED - 1):
        assert proof.look().differing == {}
    assert list(proof.look().differing) == ["10.3.1.0/24"]


def test_the_feeder_tells_vpp_again_of_what_is_believed_and_not_of_more() -> None:
    router = _Router(10)
    told: list[str] = []

    def tell_again(prefix: str) -> bool:
        told.append(prefix)
        if len(told) == 2:
            router.missing.clear()
        return True

    proof = RouteProof(router, router, router.clock, random.Random(7), tell_again)  # type: ignore[arg-type]
    router.missing = {"10.0.3.0/24"}
    for _ in range(BELIEVED - 1):
        assert proof.look().differing == {} and told == []
        router.now_s += ROUND_S
    seen = proof.look()
    assert list(seen.differing) == told == ["10.0.3.0/24"] and seen.told_again
    for _ in range(BELIEVED):
        router.now_s += ROUND_S
        proof.look()
    assert len(told) == 2, "it is told again only every few looks"
    assert proof.look().differing == {}
    for _ in range(2 * BELIEVED):
        proof.look()
    assert len(told) == 2


def test_a_missing_route_is_believed_at_its_third_look_and_forgotten_when_it_is_back() -> None:
    router = _Router(10)
    router.missing = {"10.0.3.0/24"}
    proof = _proof(router)
    for _ in range(BELIEVED - 1):
        assert proof.look().differing == {}
    found = proof.look()
    assert list(found.differing) == ["10.0.3.0/24"]
    (finding,) = differing(Look(found, parse_document({"schema_version": 1})))
    assert finding.evidence == {"10.0.3.0/24": "the data plane has no route for 10.0.3.0/24"}
    assert "10.0.3.0/24 is not what FRR says" in finding.summary
    router.missing = set()
    assert proof.look().differing == {}


def test_a_route_that_is_missing_for_one_look_is_nobodys_concern() -> None:
    router = _Router(10)
    proof = _proof(router)
    for look in range(20):
        router.missing = {router.prefixes[look % 10]}
        assert proof.look().differing == {}
        router.now_s += ROUND_S


def test_a_long_list_is_compared_in_portions_and_read_once_a_round() -> None:
    router = _Router(3 * PORTION)
    proof = _proof(router)
    for _ in range(3):
        before = len(router.looked_up)
        proof.look()
        assert len(router.looked_up) - before == PORTION
    assert sorted(router.looked_up) == sorted(router.prefixes), "each once, and no link-local network"
    proof.look()
    walks = router.walks
    assert walks == 2, "both families"
    proof.look()
    assert router.walks == walks, "the next list is due a minute later"
    assert router.asked == 0, "what agrees costs zebra no question of its own"
    router.now_s += ROUND_S
    proof.look()
    assert router.walks > walks


def test_a_table_that_lacks_everything_is_looked_at_within_bounds() -> None:
    router = _Router(2 * PORTION)
    router.missing = set(router.prefixes)
    proof = _proof(router)
    found = proof.look()
    for _ in range(6):
        before = router.asked
        found = proof.look()
        assert router.asked - before <= MOST_SUSPECTS + PORTION
    assert len(found.differing) == MOST_SUSPECTS
    (finding,) = differing(Look(found, parse_document({"schema_version": 1})))
    assert len(finding.evidence) == 6 and finding.evidence["more"] == str(MOST_SUSPECTS - 5)


def test_a_table_that_is_not_listed_is_tried_by_addresses() -> None:
    router = _Router(0, listed=False)
    router.prefixes = ["0.0.0.0/1", "128.0.0.0/1"]
    router.missing = {"128.0.0.0/1"}
    proof = _proof(router)
    found = proof.look()
    for _ in range(BELIEVED - 1):
        found = proof.look()
    assert list(found.differing) == ["128.0.0.0/1"]


def test_what_the_feeder_found_is_looked_at_and_its_silence_stops_nothing() -> None:
    router = _Router(0, listed=False)
    router.prefixes = ["203.0.113.0/24"]
    router.missing = {"203.0.113.0/24"}
    named = ["203.0.113.0/24"]
    away = False

    def doubtful() -> list[str]:
        if away:
            raise BackendUnavailable("feeder", "gone")
        return named

    proof = RouteProof(router, router, router.clock, random.Random(7), doubtful=doubtful)  # type: ignore[arg-type]
    for _ in range(BELIEVED - 1):
        assert proof.look().differing == {}
    assert list(proof.look().differing) == ["203.0.113.0/24"]
    away = True
    assert list(proof.look().differing) == ["203.0.113.0/24"]
    router.missing.clear()
    assert proof.look().differing == {}
