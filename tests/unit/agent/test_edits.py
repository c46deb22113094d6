"""Edits of the running document: repeated if another commit came first, refused for another document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.agent import edits
from appliance.agent.edits import EditCommit
from appliance.agent.requests import CheckBody, EditCommitBody, EditPlanBody
from appliance.config.edit import Edit
from appliance.engine.engine import Engine
from appliance.engine.records import CommitRequest, CommitResult
from appliance.errors import Conflict, NotFound, Stale, ValidationFailed
from appliance.state.commit_options import CommitOptions
from tests.unit.engine.toys import commit, document, router

_HOSTNAME = Edit(kind="put", pointer="/system/hostname", value="edited")


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    engine = router(tmp_path / "state").engine()
    commit(engine, document("198.51.100.0/24"))
    return engine


def _asked(edit: Edit = _HOSTNAME, **more: Any) -> EditCommitBody:
    return EditCommitBody.model_validate({"edit": edit, "author": "alice", "request_id": "asked", **more})


def _outpaced(engine: Engine, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Another commit comes before each of the next ones."""
    real, left = engine.commit, [times]

    def slow(request: CommitRequest) -> CommitResult:
        if left[0]:
            left[0] -= 1
            wanted = {**engine.config()["document"], "acls": {f"by-bob-{left[0]}": {"rules": {}}}}
            assert real(CommitRequest(wanted, CommitOptions(author="bob"))).error is None
        return real(request)

    monkeypatch.setattr(engine, "commit", slow)


def test_an_edit_is_made_in_the_running_document(engine: Engine) -> None:
    edit = EditCommit(engine, _asked())
    assert [change.path for change in edit.edited.diff] == ["/system"]
    result = edit.run()
    assert (result.request_id, result.revision, result.error) == ("asked", 2, None)
    running = engine.config()["document"]
    assert running["system"] == {"hostname": "edited"} and "static" in running["routing"]
    made = engine.recorded(result)
    assert made is not None
    assert (made.revision, made.base_revision, made.base_digest) == (2, 1, engine.revisions(2)[1].digest)
    # It no longer changes anything, and makes no revision.
    again = EditCommit(engine, EditCommitBody(edit=_HOSTNAME, author="alice"))
    assert (again.edited.diff, engine.recorded(again.run())) == ((), None)


def test_a_commit_that_came_first_is_kept(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    _outpaced(engine, monkeypatch, 2)
    edit = EditCommit(engine, _asked())
    result = edit.run()
    assert result.revision == 4 and result.request_id == edit.request_id != "asked"
    running = engine.config()["document"]
    assert running["system"] == {"hostname": "edited"} and list(running["acls"]) == ["by-bob-0"]
    first = engine.job("asked")
    assert first.error is not None and first.error.kind == "conflict"


def test_it_is_not_tried_for_ever_nor_once_it_is_answered(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _outpaced(engine, monkeypatch, 100)
    for attempts, name in ((5, "asked"), (1, "answered")):
        edit = EditCommit(engine, _asked(request_id=name))
        if name == "answered":
            assert edit.answered() == name
        before = engine.revision
        result = edit.run()
        assert result.error is not None and "is based on revision" in result.error.message
        assert engine.revision == before + attempts
    assert "system" not in engine.config()["document"]


def test_the_same_request_again_gives_the_result_of_the_first_time(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(engine, {**document("198.51.100.0/24"), "acls": {"in": {"rules": {}}}})
    gone = _asked(Edit(kind="remove", pointer="/acls/in"), match=(engine.running_digest,))
    first = EditCommit(engine, gone).run()
    assert first.error is None
    # The edit is no longer possible, and the running document is no longer the one that it names.
    assert EditCommit(engine, gone).run() == first
    with pytest.raises(Conflict, match="was used for another request"):
        EditCommit(engine, _asked())
    # Of several attempts it is the last one.
    _outpaced(engine, monkeypatch, 2)
    outpaced = _asked(request_id="outpaced")
    last = EditCommit(engine, outpaced).run()
    assert last.error is None and last.request_id != "outpaced"
    again = EditCommit(engine, outpaced)
    assert (again.request_id, again.run(), engine.revision) == (last.request_id, last, last.revision)


def test_an_edit_of_another_document_is_refused(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    meant = engine.running_digest
    assert edits.plan(engine, EditPlanBody(edit=_HOSTNAME, match=(meant,))).plan is not None
    _outpaced(engine, monkeypatch, 1)
    late = EditCommit(engine, _asked(match=(meant, "another"))).run()
    assert late.error is not None and late.error.kind == "conflict"
    with pytest.raises(Stale) as refused:
        EditCommit(engine, _asked(match=(meant,), request_id="later"))
    assert refused.value.digest == engine.running_digest != meant
    with pytest.raises(Stale):
        edits.plan(engine, EditPlanBody(edit=_HOSTNAME, match=()))


def test_a_plan_tells_what_is_refused_and_what_it_would_have_changed(engine: Engine) -> None:
    lan0 = {"type": "ethernet", "match": {"device": "nic0"}, "acl_in": ["nowhere"]}
    wrong = Edit(kind="put", pointer="/interfaces/lan0", value=lan0)
    found = edits.plan(engine, EditPlanBody(edit=wrong))
    assert found.plan is None and [one.pointer for one in found.problems] == ["/interfaces/lan0/acl_in/0"]
    assert [change.path for change in found.diff] == ["/interfaces/lan0"]
    unread = Edit(kind="merge_patch", pointer="", value={"system": {"hostname": 1}})
    with pytest.raises(ValidationFailed):
        edits.plan(engine, EditPlanBody(edit=unread))
    with pytest.raises(NotFound):
        edits.plan(engine, EditPlanBody(edit=Edit(kind="remove", pointer="/acls/none")))


def test_a_document_that_is_edited_is_checked_and_sealed(engine: Engine) -> None:
    running = engine.running_document()
    assert running.document is not None and engine.running_document(running.digest).document is None
    wanted = {**running.document, "acls": {"in": {"rules": {"10": {"action": "permit"}}}}}
    checked = edits.check(engine, CheckBody(document=wanted, known=running.digest))
    assert (checked.document, checked.problems, checked.running.document) == (None, (), None)
    commit(engine, wanted)
    assert checked.digest == engine.running_digest
    clear = {"bgp": {"asn": 65000, "neighbors": {"192.0.2.9": {"remote_asn": 1, "password": "horse"}}}}
    edited = {**wanted, "routing": clear}
    checked = edits.check(engine, CheckBody(document=edited, seal=True, known=running.digest))
    assert checked.document is not None and "horse" not in str(checked.document)
    assert checked.running.revision == 2 and checked.running.document == engine.config()["document"]
