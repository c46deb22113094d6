"""The secret key is made once, for its owner only."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from webui.state_directory import secret_key


def test_the_key_is_made_once(tmp_path: Path) -> None:
    first = secret_key(tmp_path)
    assert len(first) >= 50 and secret_key(tmp_path) == first
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["secret_key"]


def test_two_installations_have_two_keys(tmp_path: Path) -> None:
    keys = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        keys.append(secret_key(tmp_path / name))
    assert keys[0] != keys[1]
    assert secret_key(None) != secret_key(None)


def test_a_key_that_exists_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "secret_key").write_text("kept\n")
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(lambda _: secret_key(tmp_path), range(8))) == {"kept"}


def test_a_key_that_a_power_cut_left_empty_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "secret_key").touch()
    made = secret_key(tmp_path)
    assert len(made) >= 50 and secret_key(tmp_path) == made


def test_of_those_that_start_at_once_after_a_power_cut_all_have_one_key(tmp_path: Path) -> None:
    for _ in range(20):
        (tmp_path / "secret_key").write_text("")
        with ThreadPoolExecutor(8) as threads:
            keys = set(threads.map(lambda _: secret_key(tmp_path), range(8)))
        assert keys == {(tmp_path / "secret_key").read_text().strip()}
