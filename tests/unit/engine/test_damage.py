"""Files of the agent that are short, missing, altered or something else: only they are lost, and the
agent starts.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.engine.engine import Engine
from appliance.engine.objects import Damaged
from appliance.engine.records import CommitRequest
from appliance.errors import Conflict, NotFound
from appliance.state.commit_options import CommitOptions
from tests.unit.engine.toys import Router, commit, document, router

REVISIONS = 22
Harm = Callable[[Path], None]


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def delete(path: Path) -> None:
    path.unlink()


def no_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00garbage")


def another_type(path: Path) -> None:
    path.write_text('["a list"]')


def null(path: Path) -> None:
    path.write_text("null")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def ring(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


HARMS: tuple[Harm, ...] = (truncate, empty, delete, no_text, another_type, null, folder, ring)


def flip(path: Path) -> None:
    """One bit of a packed object."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


@pytest.fixture(autouse=True)
def fast_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No power is cut here: nothing waits for the disk."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def toy(tmp_path: Path) -> Router:
    return router(tmp_path / "state")


def route(number: int) -> str:
    return f"198.51.{number}.0/24"


def filled(toy: Router, revisions: int = REVISIONS) -> Engine:
    """Revision N routes the first N networks."""
    engine = toy.engine()
    for number in range(1, revisions + 1):
        commit(engine, document(*(route(one) for one in range(1, number + 1))))
    return engine


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """State of an agent with all the revisions, to be copied."""
    made = router(tmp_path_factory.mktemp("history") / "state")
    filled(made).close()
    return made.directory


def record_of(toy: Router, number: int) -> Path:
    return toy.directory / f"revisions/{number:08d}.json"


def object_of(toy: Router, number: int) -> Path:
    """The file of a revision's document."""
    digest = json.loads(record_of(toy, number).read_bytes())["digest"]
    (found,) = (toy.directory / "objects").glob(f"{digest}.*")
    return found


def routes_of(toy: Router) -> set[str]:
    return {key.removeprefix("route ") for key in toy.routing.state}


def started(toy: Router) -> Engine:
    """The agent as after a reboot: the router is empty, and only the files are known."""
    toy.plane.state.clear()
    toy.routing.state.clear()
    engine = toy.engine()
    engine.recover()
    return engine


@pytest.mark.parametrize("harm", [*HARMS, flip], ids=lambda harm: harm.__name__)
@pytest.mark.parametrize("which", [object_of, record_of], ids=["object", "record"])
def test_a_damaged_head_costs_itself_and_the_newest_whole_one_runs(
    toy: Router, which: Callable[[Router, int], Path], harm: Harm
) -> None:
    filled(toy, 3).close()
    harm(which(toy, 3))
    engine = started(toy)
    assert engine.revision == 2
    assert routes_of(toy) == {route(1), route(2)}
    health = engine.health()["revisions"]
    assert health["state"] == "damaged"
    assert health["detail"].startswith("revision 3 is damaged (")
    assert "revision 2 runs instead. Commit what is missing" in health["detail"]
    assert engine.damage() == [health["detail"]]
    listed = engine.revisions(5)
    assert [(one.revision, one.result) for one in listed] == [(3, "damaged"), (2, "done"), (1, "done")]
    with pytest.raises(Damaged, match="revision 3 is damaged"):
        engine.revision_details(3)
    assert engine.rollback(3, CommitOptions(author="alice")).error is not None
    # The number is not given again, and the alarm ends with the next commit.
    assert commit(engine, document(route(9))).revision == 4
    assert engine.health()["revisions"] == {"state": "up", "detail": "intact"}
    assert engine.revision_details(4)["base_revision"] == 2
    engine.close()
    again = started(toy)
    assert (again.revision, routes_of(toy)) == (4, {route(9)})
    # History before the running revision is checked after the start; closing waits for that.
    again.close()
    assert [one.revision for one in again.revisions(5)] == [4, 3, 2, 1]
    assert again.revisions(5)[1].result == "damaged"


@pytest.mark.parametrize("which", [object_of, record_of], ids=["object", "record"])
def test_what_the_timer_took_back_does_not_come_back(
    toy: Router, which: Callable[[Router, int], Path]
) -> None:
    """Seed 1202, round 38: revision 4 went back to 2, whose document was lost; 3 had not been confirmed."""
    engine = filled(toy, 2)
    commit(engine, document(route(1), route(9)), confirm_s=60)
    toy.clock.wait(60)
    engine.tick()
    assert (engine.revision, routes_of(toy)) == (4, {route(1), route(2)})
    engine.close()
    which(toy, 4).write_bytes(b"")
    again = started(toy)
    # Revisions 2 and 4 share their document; a lost record leaves 2 whole.
    assert (again.revision, routes_of(toy)) == (
        (1, {route(1)}) if which is object_of else (2, {route(1), route(2)})
    )
    again.close()


def test_what_somebody_rolled_back_comes_back_only_where_nothing_else_is_whole(toy: Router) -> None:
    engine = filled(toy, 2)
    assert engine.rollback(1, CommitOptions(author="alice")).state == "done"
    engine.close()
    object_of(toy, 3).write_bytes(b"")
    again = started(toy)
    assert (again.revision, routes_of(toy)) == (2, {route(1), route(2)})
    again.close()


def test_a_confirmed_one_is_whole_though_the_next_is_lost(toy: Router) -> None:
    engine = filled(toy, 1)
    commit(engine, document(route(2)), confirm_s=60)
    engine.confirm("alice")
    commit(engine, document(route(3)))
    engine.close()
    record_of(toy, 3).write_bytes(b"")
    again = started(toy)
    assert (again.revision, routes_of(toy)) == (2, {route(2)})
    again.close()


def test_an_altered_object_is_not_applied(toy: Router) -> None:
    """Well-formed, with the right name, but not the committed content."""
    filled(toy, 2).close()
    path = object_of(toy, 2)
    altered = zlib.decompress(path.read_bytes()).replace(b"198.51.2.0", b"198.51.3.0")
    path.write_bytes(zlib.compress(altered))
    engine = started(toy)
    assert (engine.revision, routes_of(toy)) == (1, {route(1)})
    assert "was altered" in engine.damage()[0]


def test_an_altered_record_is_not_believed(toy: Router) -> None:
    """Its digest names another whole document."""
    filled(toy, 3).close()
    old = json.loads(record_of(toy, 1).read_bytes())["digest"]
    data = json.loads(record_of(toy, 3).read_bytes())
    record_of(toy, 3).write_text(json.dumps({**data, "digest": old}))
    engine = started(toy)
    assert (engine.revision, routes_of(toy)) == (2, {route(1), route(2)})


@pytest.mark.parametrize("back", range(20))
def test_each_of_the_last_twenty(history: Path, toy: Router, back: int) -> None:
    """Record and object of one of them: only that one is lost."""
    shutil.copytree(history, toy.directory)
    number = REVISIONS - back
    HARMS[back % 3](object_of(toy, number))
    engine = started(toy)
    engine.close()
    assert engine.revision == (REVISIONS if back else REVISIONS - 1)
    assert {one.revision for one in engine.revisions(30) if one.result == "damaged"} == {number}
    delete(record_of(toy, number))
    engine = started(toy)
    engine.close()
    assert engine.revision == (REVISIONS if back else REVISIONS - 1)
    assert {one.revision for one in engine.revisions(30) if one.result == "damaged"} == {number}
    for other in range(1, REVISIONS + 1):
        if other != number:
            assert len(engine.revision_details(other)["document"]["routing"]["static"]) == other


def test_all_of_the_last_twenty(history: Path, toy: Router) -> None:
    shutil.copytree(history, toy.directory)
    for number in range(REVISIONS - 19, REVISIONS + 1):
        HARMS[number % len(HARMS)]((object_of, record_of)[number % 2](toy, number))
    engine = started(toy)
    assert (engine.revision, routes_of(toy)) == (2, {route(1), route(2)})
    assert re.fullmatch(r"damaged too: \d+ more revisions; see the list of revisions", engine.damage()[-1])
    assert commit(engine, document(route(9))).revision == REVISIONS + 1


def test_with_nothing_whole_the_router_is_left_as_it_is(toy: Router) -> None:
    """Forwarding continues: there is nothing better to replace it with."""
    engine = filled(toy, 2)
    engine.close()
    live = toy.live()
    for number in (1, 2):
        truncate(object_of(toy, number))
    (toy.directory / "journal.json").write_text("{}")
    engine = toy.engine()
    engine.recover()
    assert toy.live() == live
    assert "no other revision is intact: the router is left as it is" in engine.damage()[0]
    assert commit(engine, document(route(7))).revision == 3
    assert engine.damage()[0].startswith("revision 2 is damaged")
    assert routes_of(toy) == {route(7)}


def test_what_is_committed_again_is_stored_again(toy: Router) -> None:
    """The damaged one already has its name."""
    filled(toy, 2).close()
    truncate(object_of(toy, 2))
    engine = started(toy)
    commit(engine, document(route(1), route(2)))
    engine.close()
    engine = started(toy)
    assert (engine.revision, engine.health()["revisions"]["state"]) == (3, "up")
    assert engine.revision_details(2)["revision"] == 2


def test_the_same_document_makes_a_revision_that_ends_the_alarm(toy: Router) -> None:
    filled(toy, 2).close()
    delete(record_of(toy, 2))
    engine = started(toy)
    assert engine.rollback(1, CommitOptions(author="alice")).revision == 3
    told = (
        "revision 2 is damaged (its record is missing): it cannot be rolled back to, "
        "and nothing else is affected"
    )
    assert engine.damage() == [told]
    assert engine.health()["revisions"]["state"] == "up"


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_a_damaged_plan_costs_the_plan(toy: Router, harm: Harm) -> None:
    engine = filled(toy, 2)
    engine.close()
    details = json.loads(record_of(toy, 2).read_bytes())["details"]
    (found,) = (toy.directory / "objects").glob(f"{details}.*")
    harm(found)
    engine = started(toy)
    assert engine.revision == 2
    answer = engine.revision_details(2)
    assert (answer["plan"], answer["diff"]) == ([], [])
    assert answer["damage"].startswith("plan and diff of revision 2 are lost")


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_a_damaged_result_is_told_by_the_revision_that_was_made(toy: Router, harm: Harm) -> None:
    engine = toy.engine()
    request = CommitRequest(document(route(1)), CommitOptions(author="alice", request_id="one"))
    assert engine.commit(request).revision == 1
    commit(engine, document(route(2)), request_id="two")
    engine.close()
    harm(toy.directory / "jobs/one.json")
    engine = started(toy)
    assert (engine.job("one").state, engine.job("one").revision) == ("done", 1)
    assert engine.commit(request).revision == 1, "it is not made once more"
    other = CommitRequest(document(route(3)), CommitOptions(author="alice", request_id="one"))
    with pytest.raises(Conflict, match="used for another request"):
        engine.commit(other)
    assert engine.revision == 2


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_a_damaged_result_costs_that_result(toy: Router, harm: Harm) -> None:
    engine = toy.engine()
    commit(engine, document(route(1)), request_id="first")
    request = CommitRequest(
        document(route(3)), CommitOptions(author="alice", request_id="one"), base_revision=7
    )
    assert engine.commit(request).state == "failed"
    engine.close()
    harm(toy.directory / "jobs/one.json")
    engine = started(toy)
    assert engine.revision == 1
    if harm is delete:
        return
    with pytest.raises(NotFound, match="result of commit one is damaged"):
        engine.job("one")
    with pytest.raises(Conflict, match="whether it was done is in the list of revisions"):
        engine.commit(request)
    assert commit(engine, document(route(2)), request_id="two").revision == 2


@pytest.mark.parametrize("harm", [h for h in HARMS if h is not delete], ids=lambda harm: harm.__name__)
def test_a_damaged_journal_was_open(toy: Router, harm: Harm) -> None:
    filled(toy, 1).close()
    journal = toy.directory / "journal.json"
    journal.write_text("{}")
    harm(journal)
    toy.routing.state["route 203.0.113.0/24"] = "half of a commit"
    engine = toy.engine()
    engine.recover()
    assert routes_of(toy) == {route(1)}


@pytest.mark.parametrize("harm", [h for h in HARMS if h is not delete], ids=lambda harm: harm.__name__)
def test_a_damaged_timer_begins_anew(toy: Router, harm: Harm) -> None:
    """A revision that awaited confirmation still does: an accident never makes it permanent."""
    engine = filled(toy, 1)
    commit(engine, document(route(2)), confirm_s=60)
    engine.close()
    harm(toy.directory / "pending.json")
    engine = started(toy)
    pending = engine.pending_confirm()
    assert pending is not None
    assert (pending["revision"], pending["seconds_left"]) == (2, 60)
    toy.clock.wait(61)
    engine.tick()
    assert routes_of(toy) == {route(1)}


@pytest.mark.parametrize("harm", [h for h in HARMS if h is not delete], ids=lambda harm: harm.__name__)
def test_a_stray_timer_takes_nothing_from_a_confirmed_revision(toy: Router, harm: Harm) -> None:
    engine = filled(toy, 1)
    commit(engine, document(route(2)), confirm_s=60)
    engine.confirm("alice")
    engine.close()
    stray = toy.directory / "pending.json"
    stray.write_text("{}")
    harm(stray)
    engine = started(toy)
    assert engine.pending_confirm() is None
    toy.clock.wait(61)
    engine.tick()
    assert routes_of(toy) == {route(2)}


def test_a_rollback_whose_target_is_damaged_goes_further_back(toy: Router) -> None:
    engine = filled(toy, 2)
    commit(engine, document(route(9)), confirm_s=60)
    engine.close()
    truncate(object_of(toy, 2))
    engine = started(toy)
    toy.clock.wait(61)
    engine.tick()
    assert routes_of(toy) == {route(1)}


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_a_damaged_key_costs_the_secrets(toy: Router, harm: Harm) -> None:
    """The router runs without the secrets that cannot be opened, says which, and accepts new ones."""
    neighbor = {"remote_asn": 65001, "password": "correct-horse", "ipv4_unicast": {}}
    bgp = {"asn": 65000, "router_id": "192.0.2.1", "neighbors": {"192.0.2.2": neighbor}}
    wanted = document(route(1))
    wanted["routing"]["bgp"] = bgp
    engine = toy.engine()
    commit(engine, wanted)
    engine.close()
    harm(toy.directory / "secret.key")
    engine = started(toy)
    assert (engine.revision, routes_of(toy) >= {route(1)}) == (1, True)
    (told,) = engine.damage()
    assert told.startswith("the secret at /routing/bgp/neighbors/192.0.2.2/password cannot be opened")
    assert toy.routing.state["neighbor 192.0.2.2"] == "65001 "
    commit(engine, wanted)
    assert engine.damage() == []
    assert toy.routing.state["neighbor 192.0.2.2"] == "65001 correct-horse"
    engine.close()
    assert started(toy).damage() == []


@pytest.mark.parametrize("name", ["revisions", "objects", "jobs"])
def test_a_file_in_place_of_a_folder_is_set_aside(toy: Router, name: str) -> None:
    filled(toy, 1).close()
    place = toy.directory / name
    place.rename(toy.directory / f"{name}.old")
    place.write_text("")
    engine = started(toy)
    assert commit(engine, document(route(2))).revision is not None
    assert (toy.directory / f"{name}.damaged").exists()


def test_what_earlier_releases_wrote_is_read(toy: Router) -> None:
    """Objects whole and plain, records without a digest of themselves, no mark of the last number."""
    engine = filled(toy, 3)
    expected = [engine.revision_details(number) for number in (1, 2, 3)]
    engine.close()
    for path in (toy.directory / "objects").iterdir():
        path.unlink()
    for found in expected:
        number = found["revision"]
        record = json.loads(record_of(toy, number).read_bytes())
        del record["sum"]
        record_of(toy, number).write_text(json.dumps(record))
        details = {"plan": found["plan"], "diff": found["diff"]}
        for name, value in ((record["digest"], found["document"]), (record["details"], details)):
            plain = json.dumps(value, separators=(",", ":"))
            (toy.directory / f"objects/{name}.json").write_text(plain)
    (toy.directory / "revisions/last").unlink()
    engine = started(toy)
    assert (engine.revision, engine.damage()) == (3, [])
    assert [engine.revision_details(number) for number in (1, 2, 3)] == expected
    truncate(object_of(toy, 3))
    engine.close()
    assert started(toy).revision == 2
