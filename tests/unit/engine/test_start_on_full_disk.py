"""The agent starts on a disk without a free block, its reserve used up: it still serves and restores."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from appliance.engine import durable
from appliance.engine.records import CommitRequest
from appliance.state.commit_options import CommitOptions
from tests.unit.engine.toys import CONFIRMED, UNCONFIRMED, Killed, commit, document, dying, router

REQUEST = "cut-short"
_LAST = 16


def _unwritable(path: Path, *_more: object, **_named: object) -> None:
    raise OSError(28, "No space left on device", str(path))


@pytest.mark.parametrize("confirm_s", [None, 60.0])
@pytest.mark.parametrize("at", range(_LAST))
def test_an_agent_that_was_killed_in_a_commit_starts_without_a_free_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, confirm_s: float | None
) -> None:
    toy = router(tmp_path / "state")
    engine = toy.engine()
    commit(engine, CONFIRMED)
    before = toy.live()
    with monkeypatch.context() as patch:
        dying(patch, at)
        with suppress(Killed):
            engine.commit(
                CommitRequest(
                    UNCONFIRMED, CommitOptions(author="alice", confirm_s=confirm_s, request_id=REQUEST)
                )
            )
    engine.close()
    with monkeypatch.context() as patch:
        for name in ("write", "write_whole", "allocate"):
            patch.setattr(durable, name, _unwritable)
        for path in (toy.directory / "reserve").iterdir():
            path.unlink()
        again = toy.engine()
        again.recover()
        done = again.revision == 2
        assert toy.live() == (before if not done else toy.live())
        assert again.seen.drift == ()
        if (toy.directory / "jobs" / f"{REQUEST}.json").exists():
            known = again.job(REQUEST)
            assert (known.state, known.revision) == (("done", 2) if done else ("failed", None))
    # There is room again: the result is on disk for those who start after this agent.
    if again.pending_confirm() is not None:
        again.confirm("bob")
    commit(again, document("192.0.2.128/25"))
    again.close()
    later = toy.engine()
    later.recover()
    if (toy.directory / "jobs" / f"{REQUEST}.json").exists():
        assert later.job(REQUEST).state in ("done", "failed")
    later.close()
