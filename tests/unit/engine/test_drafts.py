"""Drafts of files that a crash left are removed at the next start, and nothing else is."""

from __future__ import annotations

from pathlib import Path

from appliance.agent.service import alone
from appliance.host.backend import HostBackend


def _made(root: Path, *names: str) -> list[Path]:
    paths = [root / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("half")
    return paths


def test_drafts_of_the_state(tmp_path: Path) -> None:
    drafts = _made(tmp_path, "revisions/.last.new", ".pending.json.new", "jobs/.a1.json.new")
    kept = _made(tmp_path, "revisions/last", "revisions/.last.new.d/x", "jobs/x.new", "elsewhere/deep/.x.new")
    (tmp_path / "linked").symlink_to(kept[3].parent)
    with alone(tmp_path):
        assert not any(path.exists() for path in drafts)
        assert all(path.exists() for path in kept)


def test_drafts_of_the_hosts_files(tmp_path: Path) -> None:
    (draft,) = _made(tmp_path, "etc/issue.d/.millrace.issue.new")
    (other,) = _made(tmp_path, "etc/issue.d/.somebody.issue.new")
    HostBackend(tmp_path)
    assert (draft.exists(), other.exists()) == (False, True)
