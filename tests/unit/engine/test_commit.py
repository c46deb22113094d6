"""A commit on toys: its actions, records and refusals."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from appliance.engine.records import CommitRequest
from appliance.errors import Conflict, NotFound, ValidationFailed
from appliance.state.commit_options import CommitOptions
from tests.unit.engine.toys import Router, commit, compile_toy, document, router


@pytest.fixture
def toy(tmp_path: Path) -> Router:
    return router(tmp_path / "state")


def test_a_new_router_runs_the_empty_revision(toy: Router) -> None:
    engine = toy.engine()
    engine.recover()
    assert engine.config()["revision"] == 0
    assert engine.config()["document"] == {"schema_version": 1}
    assert engine.revisions(10) == []


def test_commit_applies_verifies_and_records(toy: Router) -> None:
    engine = toy.engine()
    wanted = document("198.51.100.0/24")
    result = commit(engine, wanted, comment="first", base_revision=0)
    assert (result.revision, result.error) == (1, None)
    assert [step["backend"] for step in result.steps] == ["linux", "frr"]
    assert toy.live() == compile_toy(engine._committer.running.prepared.config)
    entry = engine.revisions(10)[0]
    assert (entry.revision, entry.author, entry.comment, entry.steps_count) == (1, "alice", "first", 2)
    details = engine.revision_details(1)
    assert details["document"] == engine.config()["document"]
    assert len(details["plan"]) == 2
    assert {change["path"] for change in details["diff"]} == {"/interfaces", "/routing"}


def test_committing_twice_changes_and_records_nothing(toy: Router) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"))
    again = commit(engine, document("198.51.100.0/24"))
    assert (again.revision, again.steps) == (1, ())
    assert engine.preview(document("198.51.100.0/24")).steps == ()


def test_inner_backends_go_first_on_the_way_down_and_last_on_the_way_up(toy: Router) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"))
    preview = engine.preview({"schema_version": 1})
    assert [planned.backend.name for planned in preview.steps] == ["frr", "linux"]


def test_preview_changes_nothing(toy: Router) -> None:
    engine = toy.engine()
    preview = engine.preview(document("198.51.100.0/24"))
    assert preview.base_revision == 0
    assert [planned.step.phase for planned in preview.steps] == ["create", "announce"]
    assert toy.live() == {"linux": {}, "frr": {}}
    assert engine.revision == 0


def test_a_stale_base_is_a_conflict(toy: Router) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"))
    result = engine.commit(CommitRequest(document(), CommitOptions(author="bob"), base_revision=0))
    assert result.state == "failed"
    assert result.error is not None
    assert result.error.kind == "conflict"
    assert engine.revision == 1


def test_an_invalid_document_changes_nothing_and_names_the_place(toy: Router) -> None:
    engine = toy.engine()
    wanted = document()
    wanted["interfaces"]["lo1"]["mtu"] = 5
    result = engine.commit(CommitRequest(wanted, CommitOptions(author="alice", request_id="r1")))
    assert result.error is not None
    assert [problem.pointer for problem in result.error.problems] == ["/interfaces/lo1/mtu"]
    assert [problem.pointer for problem in engine.validate(wanted)] == ["/interfaces/lo1/mtu"]
    assert engine.job("r1") == result
    with pytest.raises(ValidationFailed):
        engine.preview(wanted)
    assert toy.live() == {"linux": {}, "frr": {}}


def test_the_same_request_is_done_once(toy: Router) -> None:
    engine = toy.engine()
    first = commit(engine, document("198.51.100.0/24"), request_id="r1")
    commit(engine, document("203.0.113.0/24"), request_id="r2")
    assert commit(engine, document("198.51.100.0/24"), request_id="r1") == first
    assert engine.revision == 2
    with pytest.raises(Conflict):
        engine.commit(CommitRequest(document(), CommitOptions(author="alice", request_id="r1")))
    with pytest.raises(ValidationFailed):
        engine.job("../etc")
    restarted = toy.engine()
    assert restarted.job("r1") == first
    with pytest.raises(NotFound):
        restarted.job("r3")


def test_rollback_commits_the_old_document(toy: Router) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"))
    state = toy.live()
    commit(engine, document("203.0.113.0/24"))
    result = engine.rollback(1, CommitOptions(author="bob"))
    assert (result.state, result.revision) == ("done", 3)
    assert toy.live() == state
    assert engine.revisions(1)[0].comment == "Roll back to revision 1"
    assert engine.rollback(0, CommitOptions(author="bob")).revision == 4
    assert toy.live() == {"linux": {}, "frr": {}}
    missing = engine.rollback(99, CommitOptions(author="bob"))
    assert missing.error is not None
    assert missing.error.kind == "not_found"


def test_listing_revisions_reads_no_document(toy: Router) -> None:
    engine = toy.engine()
    for number in range(5):
        commit(engine, document(f"198.51.{number}.0/24"))
    for stored in (toy.directory / "objects").iterdir():
        if stored.name != f"{engine.config()['digest']}.json":
            stored.unlink()
    restarted = toy.engine()
    assert [entry.revision for entry in restarted.revisions(3)] == [5, 4, 3]
    assert [entry.revision for entry in restarted.revisions(3, before=3)] == [2, 1]


def test_a_backend_that_is_down_fails_the_commit_and_nothing_changes(toy: Router) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"))
    state = toy.live()
    toy.plane.up = False
    result = engine.commit(CommitRequest(document("203.0.113.0/24"), CommitOptions(author="alice")))
    assert result.error is not None
    assert (result.error.kind, result.error.message) == ("unavailable", "linux: does not answer")
    assert toy.live() == state
    toy.plane.up = True
    commit(engine, document("203.0.113.0/24"))


def test_the_store_can_be_reopened(toy: Router) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"))
    before = engine.config()
    assert toy.engine().config() == before


def test_what_a_later_version_recorded_is_read(toy: Router, tmp_path: Path) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"), confirm_s=60)
    for path in (*tmp_path.rglob("revisions/*.json"), *tmp_path.rglob("pending.json")):
        later = {**json.loads(path.read_bytes()), "of_a_later_version": 1}
        if later.pop("sum", None) is not None:
            later["sum"] = hashlib.sha256(json.dumps(later, sort_keys=True).encode()).hexdigest()
        path.write_text(json.dumps(later))
    again = toy.engine()
    again.recover()
    assert again.config() == engine.config()
    assert again.revisions(1) == engine.revisions(1)
    assert again.pending_confirm() is not None
