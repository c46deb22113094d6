"""A rollback that raises a limit sets the closed session up again, and says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.config.document import RouterConfig
from appliance.config.load import parse_document
from appliance.engine import durable
from appliance.errors import Conflict
from appliance.routing import FrrBackend
from appliance.state.commit_options import CommitOptions
from tests.bgp_answers import OVER_LIMIT, UP, FrrWithSessions
from tests.unit.engine.toys import Killed, Router, Toy, commit, document, dying, router


def _limit(most: int | None) -> RouterConfig:
    neighbor = {"remote_asn": 65001, "ipv4_unicast": {} if most is None else {"maximum_prefix": most}}
    neighbors = {"192.0.2.1": neighbor, "192.0.2.5": neighbor}
    return parse_document({"routing": {"bgp": {"asn": 65000, "neighbors": neighbors}}})


def _backend(frr: FrrWithSessions) -> FrrBackend:
    return FrrBackend("none", Path("/nowhere"), Path("/nowhere"), client=frr)


def test_only_a_closed_session_is_cleared_and_frr_is_asked_only_for_a_raised_limit() -> None:
    frr = FrrWithSessions(**{"192.0.2.1": OVER_LIMIT, "192.0.2.5": UP})
    backend = _backend(frr)
    assert backend.reopen(_limit(10), _limit(10)) == backend.reopen(_limit(5000), _limit(10)) == []
    assert frr.asked == []
    (said,) = backend.reopen(_limit(10), _limit(5000))
    assert said.startswith("the session with 192.0.2.1 was cleared")
    assert [operation.text for operation in frr.operations] == ["clear bgp 192.0.2.1"]
    assert backend.reopen(_limit(10), _limit(None)) == [], "it is up by now"


def test_what_frr_refuses_is_told_in_its_words() -> None:
    from frr_config.protocols.bgp.clearing import clear

    with pytest.raises(Conflict, match="Unknown neighbor"):
        _backend(FrrWithSessions()).operate(clear("192.0.2.77"))


class _Opening(Toy):
    """A backend that opens something whenever the host's name changes."""

    fails = False
    dies_by: Path | None = None
    """What it removes first, where a test counts what the agent removes."""

    def __init__(self, name: str, down: str, up: str) -> None:
        super().__init__(name, down, up)
        self.opened: list[str] = []

    def reopen(self, before: RouterConfig, after: RouterConfig) -> list[str]:
        if self.fails:
            raise Conflict("refused")
        if self.dies_by is not None:
            durable.remove(self.dies_by)
        names = before.system.hostname, after.system.hostname
        said = [] if names[0] == names[1] else [f"opened after {names[0]} became {names[1]}"]
        self.opened += said
        return said


@pytest.fixture
def opening(tmp_path: Path) -> Router:
    made = router(tmp_path)
    made.routing = _Opening("frr", "withdraw", "announce")
    return made


def _named(name: str) -> dict[str, Any]:
    return document(system={"hostname": name}, acls={name: {"rules": {"10": {"action": "permit"}}}})


def test_a_rollback_says_what_it_opened_in_its_result_and_its_revision(opening: Router) -> None:
    engine = opening.engine()
    assert commit(engine, _named("a"), request_id="first").reopened == ("opened after millrace became a",)
    commit(engine, _named("b"))
    result = engine.rollback(1, CommitOptions(author="alice"))
    assert result.reopened == ("opened after b became a",)
    assert engine.job(result.request_id).reopened == result.reopened
    assert engine.revision_details(3)["reopened"] == list(result.reopened)
    assert engine.revision_details(3)["request_id"] == result.request_id


def test_so_does_the_rollback_that_nobody_asked_for(opening: Router) -> None:
    engine = opening.engine()
    commit(engine, _named("a"))
    commit(engine, _named("b"), confirm_s=60)
    opening.clock.wait(61)
    engine.tick()
    assert engine.revision == 3
    assert engine.revision_details(3)["reopened"] == ["opened after b became a"]
    assert engine.job("unconfirmed-2").reopened == ("opened after b became a",)
    engine.tick()
    assert engine.revision_details(3)["reopened"] == ["opened after b became a"]


def test_it_waits_until_the_router_is_there(opening: Router) -> None:
    engine = opening.engine()
    commit(engine, _named("a"))
    commit(engine, _named("b"), confirm_s=60)
    opening.clock.wait(61)
    opening.routing.up = False
    engine.tick()
    assert (engine.revision, engine.revision_details(3)["reopened"]) == (3, [])
    opening.routing.up = True
    engine.tick()
    assert engine.revision_details(3)["reopened"] == ["opened after b became a"]


@pytest.mark.parametrize("how", ["commit", "rollback", "timer"])
def test_killed_anywhere_before_it_the_next_agent_does_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    at, over = 0, False
    while not over:
        toy = router(tmp_path / f"state-{at}")
        toy.routing = backend = _Opening("frr", "withdraw", "announce")
        engine = toy.engine()
        commit(engine, _named("a"))
        commit(engine, _named("b"), **({"confirm_s": 60} if how == "timer" else {}))
        backend.opened.clear()
        with monkeypatch.context() as patch:
            dying(patch, at)
            backend.dies_by = toy.directory / "no such file"
            try:
                if how == "commit":
                    commit(engine, _named("a"))
                elif how == "rollback":
                    engine.rollback(1, CommitOptions(author="alice"))
                else:
                    toy.clock.wait(61)
                    engine.tick()
                over = True
            except Killed:
                pass
        again = toy.engine()
        again.recover()
        again.tick()
        if again.running_config.system.hostname == "a":
            assert "opened after b became a" in backend.opened, (how, at)
            assert not (toy.directory / "reopening.json").exists()
        else:
            assert backend.opened == [], (how, at)
        at += 1
    assert at > 5


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "[" * 5000, '{"before": 77, "request_id": "x"}', '{"before": null}', '{"before": 1}'],
)
def test_a_note_that_cannot_be_read_stops_nothing(opening: Router, text: str) -> None:
    commit(opening.engine(), _named("a"))
    (opening.directory / "reopening.json").write_text(text)
    engine = opening.engine()
    engine.recover()
    assert engine.revision == 1
    assert not (opening.directory / "reopening.json").exists()
    assert commit(engine, _named("b")).reopened == ("opened after a became b",)


def test_a_commit_is_done_even_where_nothing_can_be_opened(opening: Router) -> None:
    engine = opening.engine()
    commit(engine, _named("a"))
    assert isinstance(opening.routing, _Opening)
    opening.routing.fails = True
    assert commit(engine, _named("b")).reopened == ()
