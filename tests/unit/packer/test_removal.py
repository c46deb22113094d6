"""A build deletes its own folders, and nothing that is mounted below them."""

from __future__ import annotations

from pathlib import Path

import pytest

from packer.image.errors import BuildError
from packer.image.removal import remove_tree


def _mounts(directory: Path, *points: str) -> Path:
    table = directory / "mountinfo"
    lines = (f"36 35 0:30 / {point} rw,nosuid shared:4 - tmpfs tmpfs rw\n" for point in points)
    table.write_text("".join(lines))
    return table


def test_a_folder_goes_with_all_below(tmp_path: Path) -> None:
    (tmp_path / "work" / "root" / "dev").mkdir(parents=True)
    remove_tree(tmp_path / "work", _mounts(tmp_path, "/", "/dev/shm", str(tmp_path / "workshop")))
    assert not (tmp_path / "work").exists()
    remove_tree(tmp_path / "work")


@pytest.mark.parametrize("below", ["", "/tree/dev/shm", "/a\\040name"])
def test_nothing_goes_while_something_is_mounted_below(tmp_path: Path, below: str) -> None:
    (tmp_path / "work" / "file").mkdir(parents=True)
    with pytest.raises(BuildError, match="mounted there"):
        remove_tree(tmp_path / "work", _mounts(tmp_path, str(tmp_path / "work") + below))
    assert (tmp_path / "work" / "file").exists()
