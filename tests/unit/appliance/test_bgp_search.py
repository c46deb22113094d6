"""Searching BGP routes: what is asked of the index, what is made of its answers, and of none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from appliance.config.problem_text import sentence_of, told_by_field
from appliance.engine.backend import BackendUnavailable
from appliance.errors import ValidationFailed
from appliance.features.bgp.index import index_state, search
from appliance.features.bgp.index_client import BgpIndexClient
from appliance.state.bgp import BgpNeighborState, BgpState, PrefixCounts
from appliance.state.bgp_search import BGP_INDEX, BgpSearchQuery, FoundRoute
from frr_config.protocols.bgp.search_terms import key_of_community
from tests.toy_bgp_index import HOSTILE, READY, STATUS, ToyBgpIndex, row

_COUNTED = {"ipv4_unicast": PrefixCounts(prefixes_received=1_000_000), "ipv6_unicast": PrefixCounts()}


class _Routing:
    """Counts the routes of its neighbors."""

    def bgp_state(self) -> BgpState:
        one = BgpNeighborState(state="established", families=_COUNTED)
        return BgpState(neighbors={"192.0.2.1": one, "192.0.2.5": BgpNeighborState(state="active")})


def _router(index: BgpIndexClient | None, *, bgp: bool = True, routing: Any = None) -> Any:
    config = SimpleNamespace(routing=SimpleNamespace(bgp=object() if bgp else None))
    return SimpleNamespace(
        bgp_index=index, engine=SimpleNamespace(running_config=config), routing=routing or _Routing()
    )


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[ToyBgpIndex]:
    with ToyBgpIndex(tmp_path / "index.sock") as toy:
        toy.status = READY
        yield toy


@pytest.fixture
def router(tmp_path: Path) -> Any:
    return _router(BgpIndexClient(tmp_path / "index.sock"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "ipv4"),
        ({"family": "ipv6"}, "ipv6"),
        ({"prefix": "10.1.2.3/8"}, "ipv4 within=10.0.0.0/8"),
        ({"prefix": "10.1.2.3"}, "ipv4 covering=10.1.2.3"),
        ({"prefix": "10.1.2.3", "match": "exact"}, "ipv4 exact=10.1.2.3/32"),
        ({"prefix": "2001:DB8::/32", "match": "covering"}, "ipv6 covering=2001:db8::/32"),
        ({"asn": "1.10", "origin_asn": 0}, "ipv4 as=65546 origin_as=0"),
        ({"first_asn": "4294967295"}, "ipv4 first_as=4294967295"),
        ({"path": " 65001  65010_1.10 "}, "ipv4 path=65001_65010_65546"),
        ({"path_length": "3 - 5"}, "ipv4 path_length=3-5"),
        ({"community": "65001:100"}, "ipv4 community=65001:100"),
        ({"community": "NO-EXPORT"}, "ipv4 community=no-export"),
        ({"community": "65001:1:4294967295"}, "ipv4 large_community=65001:1:4294967295"),
        ({"neighbor": "Self", "next_hop": "FE80::1"}, "ipv4 neighbor=self next_hop=fe80::1"),
    ],
)
def test_a_question_is_asked_in_the_words_of_the_index(
    toy: ToyBgpIndex, router: Any, given: dict[str, Any], words: str
) -> None:
    search(router, BgpSearchQuery.model_validate(given))
    assert toy.asked == [f"search {words} offset=0 limit=100"]


@pytest.mark.parametrize(
    ("text", "octets"),
    [
        ("rt:65001:100", "0002fde900000064"),
        ("soo:65546:7", "0203" + "0001000a" + "0007"),
        ("RT:192.0.2.1:7", "0102" + "c0000201" + "0007"),
        ("0x0002FDE900000064", "0002fde900000064"),
    ],
)
def test_an_extended_community_is_eight_octets(text: str, octets: str) -> None:
    """RFC 4360, RFC 5668."""
    assert key_of_community(text) == ("extended_community", octets)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"prefix": "nonsense"}, "prefix: must be an address or a prefix"),
        ({"family": "ipv6", "prefix": "10.0.0.0/8"}, "prefix: must be of the family that is asked for"),
        ({"match": "exact"}, "match: needs a prefix or an address"),
        ({"asn": "abc"}, "asn: must be an AS number from 0 to 4294967295, such as 65001"),
        (
            {"origin_asn": "4294967296"},
            "origin_asn: must be an AS number from 0 to 4294967295, such as 65001",
        ),
        ({"first_asn": "1.65536"}, "first_asn: must be an AS number"),
        ({"path": "65001 as=1"}, "path: must be AS numbers that follow each other"),
        ({"path": " ".join(["1"] * 65)}, "at most 64"),
        ({"path_length": "5-3"}, "path_length: must be a number such as 3, or a range such as 3-5"),
        ({"community": "65536:1"}, "community: must be a community such as"),
        ({"community": "rt:65536:65536"}, "community: must be a community such as"),
        ({"community": "65001:1 neighbor=self"}, "community: must be a community such as"),
        ({"neighbor": "fe80::1%a\nstatus"}, "neighbor: must be the address of a neighbor, or self"),
        ({"next_hop": "self"}, "next_hop: must be an address"),
        ({"offset": -1}, "offset: "),
        ({"limit": 201}, "limit: "),
    ],
)
def test_what_is_wrong_is_told_by_its_field(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationFailed) as caught, told_by_field():
        BgpSearchQuery.model_validate(given)
    assert said in sentence_of(caught.value.problems)


def test_routes_are_told_with_all_they_have(toy: ToyBgpIndex, router: Any) -> None:
    everything = {
        "link_local_next_hop": "fe80::1",
        "med": 0,
        "local_preference": 100,
        "large_communities": ["65001:1:2"],
        "extended_communities": ["rt:65000:1"],
        "originator_id": "192.0.2.9",
        "cluster_list": ["192.0.2.8"],
        "atomic_aggregate": True,
        "aggregator": "65010 192.0.2.1",
    }
    toy.rows = [row(1), row(2, neighbor="self", neighbor_as=65000, as_path="", **everything)]
    toy.total = 7000
    found = search(router, BgpSearchQuery(asn=65001))
    assert (found.state, found.complete, found.total, found.read) == ("ready", True, 7000, 1050)
    plain, full = found.routes
    assert (plain.neighbor_asn, plain.med, plain.age_s, plain.is_own) == (65001, None, 61.5, False)
    assert full.is_own and full.as_path == "" and full.med == 0
    assert full.model_dump(include=set(everything)) == {**everything, "large_communities": ("65001:1:2",),
        "extended_communities": ("rt:65000:1",), "cluster_list": ("192.0.2.8",)}  # fmt: skip
    assert found.says == "Searched all 1,050 routes of both families."
    assert found.note == ""


def test_what_neighbors_say_is_text(toy: ToyBgpIndex, router: Any) -> None:
    toy.rows = [row(1, communities=[HOSTILE], aggregator=HOSTILE)]
    (route,) = search(router, BgpSearchQuery()).routes
    assert (route.communities, route.aggregator) == ((HOSTILE,), HOSTILE)


def test_while_it_reads_it_says_how_far_it_is(toy: ToyBgpIndex, router: Any) -> None:
    toy.status = {**READY, "state": "reading"}
    found = search(router, BgpSearchQuery())
    assert (found.complete, found.read, found.expected) == (False, 1050, 1_000_000)
    assert found.says == "The index is being read: 1,050 of about 1,000,000 routes so far."


def test_how_many_there_are_is_not_needed(toy: ToyBgpIndex, tmp_path: Path) -> None:
    class Hung(_Routing):
        def bgp_state(self) -> BgpState:
            raise BackendUnavailable("frr", "bgpd does not answer")

    toy.status = {**READY, "state": "reading"}
    found = search(_router(BgpIndexClient(tmp_path / "index.sock"), routing=Hung()), BgpSearchQuery())
    assert found.says == "The index is being read: 1,050 routes so far."


def test_a_table_that_is_too_long_and_a_bgpd_that_is_away_are_said(toy: ToyBgpIndex, router: Any) -> None:
    toy.status = {**READY, "truncated": True}
    found = search(router, BgpSearchQuery())
    assert not found.complete and "those beyond are not searched" in found.note
    assert found.says.startswith("Searched the first 1,050 routes")
    toy.status = {**STATUS, "state": "connecting", "why": "connection refused"}
    found = search(router, BgpSearchQuery())
    assert found.note == "bgpd does not send its routes to the index: connection refused."
    assert found.says == "The index waits for bgpd."


def test_where_there_is_nothing_to_search_that_is_the_answer(toy: ToyBgpIndex, router: Any) -> None:
    for absent, why in (
        (_router(None), "This router has no BGP index: its routes cannot be searched."),
        (_router(router.bgp_index, bgp=False), "BGP does not run in the default VRF: there is nothing to"),
    ):
        found, index = search(absent, BgpSearchQuery(limit=5)), index_state(absent)
        assert (found.state, found.routes, found.limit, index.state) == ("absent", (), 5, "absent")
        assert found.note == index.why and found.note.startswith(why)
        assert BGP_INDEX.gauges is not None and list(BGP_INDEX.gauges(index)) == []
    assert toy.asked == []


def test_its_state_is_told_without_a_search(toy: ToyBgpIndex, router: Any) -> None:
    state = index_state(router)
    assert toy.asked == ["status"]
    assert (state.state, state.ipv4.paths, state.ipv6.routes) == ("ready", 1000, 50)
    (neighbor,) = state.neighbors
    assert (neighbor.address, neighbor.asn, neighbor.up, neighbor.ipv6) == ("192.0.2.1", 65001, True, 50)
    assert BGP_INDEX.gauges is not None
    figures = {gauge.name: gauge.value for gauge in BGP_INDEX.gauges(state)}
    assert figures == {
        "bgp_index_routes": 1050,
        "bgp_index_memory_bytes": 1 << 20,
        "bgp_index_ready": 1,
    }


@pytest.mark.parametrize(
    "answer",
    [{"error": "search: as=abc: no"}, [], "words", {"state": "ready"}, {"state": "ready", "rows": 3}],
)
def test_an_answer_that_makes_no_sense_is_that_of_no_index(
    toy: ToyBgpIndex, router: Any, answer: Any
) -> None:
    toy.other = answer
    for ask in (lambda: search(router, BgpSearchQuery()), lambda: index_state(router)):
        with pytest.raises(BackendUnavailable, match="BGP index"):
            ask()


def test_a_page_that_ends_early_is_said(toy: ToyBgpIndex, router: Any) -> None:
    toy.shortened = True
    assert search(router, BgpSearchQuery()).note.endswith("the page ends early: ask for fewer (limit).")


def test_an_answer_without_an_end_is_not_read_to_its_end(toy: ToyBgpIndex, router: Any) -> None:
    toy.rows = [row(1, as_path="1 " * 5_000_000)]
    with pytest.raises(BackendUnavailable, match="too long: ask for fewer routes"):
        search(router, BgpSearchQuery())


def test_no_answer_names_the_socket(tmp_path: Path) -> None:
    client = BgpIndexClient(tmp_path / "nobody.sock")
    with pytest.raises(BackendUnavailable, match=r"BGP index: it does not answer at .*nobody\.sock"):
        client.status()


def test_a_route_without_its_prefix_is_refused() -> None:
    with pytest.raises(ValidationError):
        FoundRoute.model_validate({"neighbor": "192.0.2.1"})
