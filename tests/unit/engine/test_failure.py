"""Steps that fail, steps that lie, undo that fails, and a process that dies: the router is never half way."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from appliance.engine import durable
from appliance.engine.backend import Step, StepError
from appliance.engine.records import CommitRequest
from appliance.state.commit_options import CommitOptions
from tests.unit.engine.toys import Killed, Router, commit, compile_toy, document, router

PLANS = 20


def _documents(seed: int) -> Iterator[dict[str, Any]]:
    """Documents with little in common, the same at every run."""
    chance = random.Random(seed)
    while True:
        wanted = document(*(f"198.51.{chance.randrange(8)}.0/24" for _ in range(chance.randrange(5))))
        for name in chance.sample(["lo2", "lo3", "lo4"], chance.randrange(4)):
            wanted["interfaces"][name] = {"type": "loopback", "mtu": chance.choice([1500, 9000])}
        if chance.random() < 0.5:
            wanted["acls"] = {"edge": {"rules": {"10": {"action": chance.choice(["permit", "deny"])}}}}
        yield wanted


@pytest.mark.parametrize("number", range(PLANS))
def test_a_failure_after_any_step_leaves_the_router_as_it_was(tmp_path: Path, number: int) -> None:
    toy = router(tmp_path / "state")
    documents = _documents(number)
    fail_at: list[int] = []

    def hook(index: int, step: Step) -> None:
        if fail_at and index == fail_at[0]:
            raise StepError("injected")

    engine = toy.engine(hook)
    commit(engine, next(documents))
    before, wanted = toy.live(), next(documents)
    steps = engine.preview(wanted).steps
    for index, planned in enumerate(steps):
        fail_at[:] = [index]
        result = engine.commit(CommitRequest(wanted, CommitOptions(author="alice")))
        assert result.error is not None
        assert (result.error.step, result.error.message) == (planned.step.summary, "injected")
        assert result.error.undone
        assert toy.live() == before
        assert engine.revision == 1
    fail_at.clear()
    engine.commit(CommitRequest(wanted, CommitOptions(author="alice")))
    assert toy.live() == compile_toy(engine._committer.running.prepared.config)


def test_a_refused_step_is_named_and_the_rest_undone(tmp_path: Path) -> None:
    toy = router(tmp_path / "state")
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"))
    before = toy.live()
    toy.routing.refuses = "route 203.0.113.0/24"
    wanted = document("203.0.113.0/24")
    wanted["interfaces"]["lo2"] = {"type": "loopback"}
    result = engine.commit(CommitRequest(wanted, CommitOptions(author="alice")))
    assert result.error is not None
    assert result.error.message == "route 203.0.113.0/24 is refused"
    assert toy.live() == before


def test_a_step_that_does_nothing_is_noticed(tmp_path: Path) -> None:
    toy = router(tmp_path / "state")
    engine = toy.engine()
    toy.routing.forgets = "route 198.51.100.0/24"
    result = engine.commit(CommitRequest(document("198.51.100.0/24"), CommitOptions(author="alice")))
    assert result.error is not None
    assert result.error.step == "verify"
    assert "set route 198.51.100.0/24" in result.error.message
    assert toy.live() == {"linux": {}, "frr": {}}


def test_an_undo_that_fails_is_said_and_made_good_later(tmp_path: Path) -> None:
    toy = router(tmp_path / "state")
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"))
    before = toy.live()

    def die(index: int, step: Step) -> None:
        toy.plane.up = False
        raise StepError("injected")

    engine._committer.live._hook = die
    wanted = document("198.51.100.0/24")
    wanted["interfaces"]["lo2"] = {"type": "loopback"}
    result = engine.commit(CommitRequest(wanted, CommitOptions(author="alice")))
    assert result.error is not None
    assert not result.error.undone
    toy.plane.up = True
    assert toy.live() != before
    engine.tick()
    assert toy.live() == before
    assert engine.seen.drift == ()


def test_an_undo_that_is_refused_falls_back_to_the_last_revision(tmp_path: Path) -> None:
    toy = router(tmp_path / "state")
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"))
    before = toy.live()
    toy.plane.undo_refuses, toy.routing.refuses = True, "route 203.0.113.0/24"
    wanted = document("198.51.100.0/24", "203.0.113.0/24")
    wanted["interfaces"]["lo2"] = {"type": "loopback"}
    result = engine.commit(CommitRequest(wanted, CommitOptions(author="alice")))
    assert result.error is not None
    assert result.error.undone
    assert toy.live() == before


def test_a_disk_that_is_full_undoes_the_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy = router(tmp_path / "state")
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"))
    before, write = toy.live(), durable.write

    def full(path: Path, data: bytes, mode: int = 0o600) -> None:
        if path.parent.name == "revisions":
            raise OSError(28, "No space left on device")
        write(path, data, mode)

    monkeypatch.setattr(durable, "write", full)
    result = engine.commit(
        CommitRequest(document("203.0.113.0/24"), CommitOptions(author="alice", confirm_s=60))
    )
    assert result.error is not None
    assert (result.error.kind, result.error.undone) == ("storage", True)
    assert "No space left" in result.error.message
    assert toy.live() == before
    assert engine.revision == 1
    assert engine.pending_confirm() is None


def _kill_points(toy: Router, wanted: dict[str, Any]) -> int:
    return len(toy.engine().preview(wanted).steps)


@pytest.mark.parametrize("number", range(PLANS))
def test_killed_after_any_step_the_next_start_restores_the_last_revision(tmp_path: Path, number: int) -> None:
    toy = router(tmp_path / "state")
    documents = _documents(1000 + number)
    first = toy.engine()
    commit(first, next(documents))
    before, wanted = toy.live(), next(documents)
    for kill_at in range(_kill_points(toy, wanted)):

        def kill(index: int, step: Step, at: int = kill_at) -> None:
            if index == at:
                raise Killed

        with pytest.raises(Killed):
            toy.engine(kill).commit(
                CommitRequest(wanted, CommitOptions(author="alice", request_id=f"kill-{kill_at}"))
            )
        restarted = toy.engine()
        restarted.recover()
        assert toy.live() == before
        assert restarted.revision == 1
        assert restarted.job(f"kill-{kill_at}").state == "failed"
        assert not (toy.directory / "journal.json").exists()


def _die_on(monkeypatch: pytest.MonkeyPatch, target: str, when: str) -> None:
    """Die right before or right after ``target`` is written or removed."""

    def dying_on(act: Callable[..., None], kind: str) -> Callable[..., None]:
        def act_or_die(path: Path | Iterable[Path], *more: Any) -> None:
            places = [path] if isinstance(path, Path) else list(path)
            hit = kind in when and any(target in str(place) for place in places)
            if hit and when.startswith("before"):
                raise Killed
            act(path if isinstance(path, Path) else places, *more)
            if hit:
                raise Killed

        return act_or_die

    kinds = {"write": "write", "write_whole": "write", "sync": "sync", "remove": "remove", "forget": "remove"}
    for name, kind in kinds.items():
        monkeypatch.setattr(durable, name, dying_on(getattr(durable, name), kind))


@pytest.mark.parametrize(
    ("target", "when", "recorded"),
    [
        ("journal.json", "before write", False),
        ("journal.json", "after write", False),
        ("objects/", "before write", False),
        ("objects/", "after write", False),
        ("objects/", "before sync", False),
        ("objects/", "after sync", False),
        ("jobs/", "before write", False),
        ("jobs/", "after write", False),
        ("pending.json", "before write", False),
        ("pending.json", "after write", False),
        ("revisions/", "before write", False),
        ("revisions/", "after write", True),
        ("journal.json", "before remove", True),
        ("journal.json", "after remove", True),
    ],
)
def test_killed_around_the_journal_and_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, when: str, recorded: bool
) -> None:
    toy = router(tmp_path / "state")
    commit(toy.engine(), document("198.51.100.0/24"))
    before = toy.live()
    with monkeypatch.context() as patch:
        _die_on(patch, target, when)
        request = CommitRequest(
            document("203.0.113.0/24"), CommitOptions(author="alice", confirm_s=60, request_id="dying")
        )
        with pytest.raises(Killed):
            toy.engine().commit(request)
    toy.plane.restart()
    restarted = toy.engine()
    restarted.recover()
    assert restarted.revision == (2 if recorded else 1)
    if (target, when) != ("jobs/", "before write"):
        assert restarted.job("dying").state == ("done" if recorded else "failed")
    assert toy.live() == compile_toy(restarted._committer.running.prepared.config)
    assert (toy.live() == before) is not recorded
    assert (restarted.pending_confirm() is not None) is recorded
    assert not (toy.directory / "journal.json").exists()
