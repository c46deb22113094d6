"""A revision that later checks would refuse still runs; only a new commit of it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.engine.records import CommitRequest
from appliance.state.commit_options import CommitOptions
from tests.unit.engine.toys import Router, commit, document, router

AT = "/routing/policy/route_maps/m/rules/10/match/source_protocol"


@pytest.fixture
def toy(tmp_path: Path) -> Router:
    """A router whose running revision FRR 10.3 can carry out and FRR 8.4 cannot."""
    made = router(tmp_path / "state")
    made.frr = "10.3"
    commit(made.engine(), _refused("198.51.100.0/24"))
    made.frr = "8.4"
    return made


def _refused(*routes: str) -> dict[str, Any]:
    """A document whose route map asks for the protocol that a route is from."""
    rule = {"action": "permit", "match": {"source_protocol": "static"}}
    wanted = document(*routes)
    wanted["routing"] |= {
        "policy": {"route_maps": {"m": {"rules": {"10": rule}}}},
        "bgp": {
            "asn": 65000,
            "neighbors": {"192.0.2.9": {"remote_asn": 65001, "ipv4_unicast": {"route_map_out": "m"}}},
        },
    }
    return wanted


def test_it_is_restored_at_a_start(toy: Router) -> None:
    before = toy.live()
    toy.routing.restart()
    engine = toy.engine()
    engine.recover()
    assert toy.live() == before
    assert engine.config()["document"]["routing"]["bgp"]


def test_an_unconfirmed_commit_goes_back_to_it(toy: Router) -> None:
    before, engine = toy.live(), toy.engine()
    engine.recover()
    commit(engine, document("203.0.113.0/24"), confirm_s=60)
    assert toy.live() != before
    toy.clock.wait(61)
    engine.tick()
    assert toy.live() == before


def test_another_commit_of_it_is_refused_at_the_clause(toy: Router) -> None:
    engine = toy.engine()
    engine.recover()
    refused = engine.commit(CommitRequest(_refused("203.0.113.0/24"), CommitOptions(author="alice")))
    assert refused.error is not None
    assert [problem.pointer for problem in refused.error.problems] == [AT]
    commit(engine, document("203.0.113.0/24"))
