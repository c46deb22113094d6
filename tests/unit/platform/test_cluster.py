"""The database cluster: made once, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.platform import cluster
from appliance.programs import ProgramFailed


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    for version in ("9", "15", "17"):
        program = tmp_path / f"lib/{version}/bin/postgres"
        program.parent.mkdir(parents=True)
        program.touch()
    return tmp_path / "lib"


def made_by(calls: list[list[str]], monkeypatch: pytest.MonkeyPatch, *, fails: bool = False) -> None:
    def run(argv: list[str], timeout_s: float) -> str:
        calls.append(argv)
        draft = Path(argv[argv.index("-D") + 1])
        draft.mkdir()
        if fails:
            raise ProgramFailed("initdb: no space left")
        (draft / "PG_VERSION").write_text("17\n")
        return ""

    monkeypatch.setattr(cluster, "run", run)


def test_it_is_made_once_with_the_newest_server(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []
    made_by(calls, monkeypatch)
    for _ in range(2):
        cluster.prepare(installed, tmp_path / "state")
    assert [argv[0] for argv in calls] == [str(installed / "17/bin/initdb")]
    made = tmp_path / "state/17/millrace"
    assert "listen_addresses = ''" in (made / "postgresql.conf").read_text()
    assert (made / "pg_hba.conf").read_text().splitlines()[-1] == "local all all peer"
    assert (made / "pg_hba.conf").stat().st_mode & 0o777 == 0o600


def test_one_that_was_cut_off_is_made_anew(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []
    made_by(calls, monkeypatch, fails=True)
    with pytest.raises(ProgramFailed, match="no space"):
        cluster.prepare(installed, tmp_path / "state")
    assert not (tmp_path / "state/17/millrace").exists()
    made_by(calls, monkeypatch)
    cluster.prepare(installed, tmp_path / "state")
    assert (tmp_path / "state/17/millrace/PG_VERSION").exists()
    assert len(calls) == 2


def test_without_postgresql_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(cluster.NoPostgres, match="no PostgreSQL"):
        cluster.prepare(tmp_path, tmp_path)
