"""``show bgp routes`` on a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.cli import bgp_search
from appliance.cli.errors import CommandError
from appliance.cli.operational import SHOWS
from appliance.state.bgp_search import NO_INDEX, BgpSearch, BgpSearchQuery, FoundRoute
from tests.toy_bgp_index import HOSTILE

_ROUTE = FoundRoute(
    prefix="198.51.100.0/24",
    neighbor="192.0.2.1",
    as_path="65001 65010",
    origin="igp",
    next_hop="192.0.2.1",
    med=5,
    communities=("65001:100", HOSTILE),
    large_communities=("65001:1:2",),
    age_s=61.4,
)


class _Agent:
    """Gives the answers that a test prepared; the last one is repeated."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.asked: list[BgpSearchQuery] = []

    def state(self, _part: Any, question: BgpSearchQuery) -> BgpSearch:
        self.asked.append(question)
        given = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return BgpSearch.model_validate({"family": "ipv4", "offset": 0, "limit": 100, **given})


READY: dict[str, Any] = {"state": "ready", "complete": True, "routes": (_ROUTE,), "total": 250, "read": 1050}


def _show(line: str, agent: _Agent) -> str:
    word, *words = line.split()
    asked: Any = agent
    return SHOWS[word](asked, words).shown


def test_routes_are_a_table_with_what_was_searched() -> None:
    lines = _show("bgp routes as 65010", _Agent(READY)).splitlines()
    head, _, row, more, says = lines
    assert head.split()[:2] == ["prefix", "neighbor"]
    assert row.startswith("198.51.100.0/24  192.0.2.1  65001 65010  igp") and row.endswith("61")
    assert "65001:100" in row and "65001:1:2" in row and "\x1b" not in row
    assert more == "1 of 250 routes; `limit N` and `offset N` show others"
    assert says == "Searched all 1,050 routes of both families."


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("", {}),
        ("10.0.0.0/8", {"prefix": "10.0.0.0/8"}),
        ("10.0.0.0/8 longer as 65010", {"prefix": "10.0.0.0/8", "match": "within", "asn": 65010}),
        ("2001:db8::1 covering", {"prefix": "2001:db8::1", "match": "covering"}),
        (
            "ipv6 origin-as 1.10 neighbor-as 65001",
            {"family": "ipv6", "origin_asn": 65546, "first_asn": 65001},
        ),
        ("path 65001_65010 path-length 2-4", {"path": "65001 65010", "path_length": "2-4"}),
        ("community no-export neighbor self", {"community": "no-export", "neighbor": "self"}),
        ("next-hop 192.0.2.1 limit 5 offset 10", {"next_hop": "192.0.2.1", "limit": 5, "offset": 10}),
    ],
)
def test_words_are_a_question(words: str, asked: dict[str, Any]) -> None:
    agent = _Agent(READY)
    _show(f"bgp routes {words}", agent)
    assert agent.asked == [BgpSearchQuery.model_validate(asked)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("as", "as needs a value"),
        ("as x", "asn: must be an AS number"),
        ("nonsense", r"show bgp routes \[PREFIX\|ADDRESS"),
        ("10.0.0.0/40", "prefix: must be an address or a prefix"),
        ("exact", "match: needs a prefix"),
        ("as 1 nonsense", "'nonsense' is not expected here"),
    ],
)
def test_wrong_words_are_named(words: str, said: str) -> None:
    agent = _Agent(READY)
    with pytest.raises(CommandError, match=said):
        _show(f"bgp routes {words}", agent)
    assert agent.asked == []


def test_what_is_being_read_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bgp_search, "_AGAIN_S", 0.0)
    agent = _Agent({"state": "idle"}, {"state": "reading", "read": 10}, READY)
    assert "Searched all" in _show("bgp routes", agent)
    assert len(agent.asked) == 3


def test_after_a_while_what_is_there_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bgp_search, "_READ_S", -1.0)
    agent = _Agent({"state": "reading", "read": 1000, "expected": 5000, "routes": (_ROUTE,), "total": 1})
    shown = _show("bgp routes", agent)
    assert shown.endswith("The index is being read: 1,000 of about 5,000 routes so far.")
    assert len(agent.asked) == 1


def test_a_router_without_an_index_says_so() -> None:
    assert _show("bgp routes", _Agent({"state": "absent", "note": NO_INDEX})) == NO_INDEX
