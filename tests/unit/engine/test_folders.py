"""Root writes where another user may: a swapped file or folder never leads it elsewhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.engine import durable, folders
from appliance.engine.durable import Owner
from appliance.engine.folders import UnsafeFolder
from appliance.routing.frr import FrrBackend
from appliance.routing.wanted import WantedRouting
from frr_config import FakeFrr, FrrConfig, Routing
from frr_config.startup import write_startup

NOBODY = 65534
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of root's, as /etc/shadow is."""
    path = tmp_path / "shadow"
    path.write_text("root's")
    path.chmod(0o600)
    return path


def untouched(secret: Path) -> bool:
    found = secret.lstat()
    return (secret.read_text(), found.st_uid, found.st_gid, found.st_mode & 0o777) == ("root's", 0, 0, 0o600)


@pytest.fixture
def attacked(tmp_path: Path, secret: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of another user, who puts a link to ``secret`` in place of each new file that appears there.

    He checks before every change of owner or mode, which is when a loop of his would win the race.
    """
    folder = tmp_path / "frr"
    folder.mkdir(mode=0o775)
    os.chown(folder, NOBODY, NOBODY)
    seen: list[str] = []

    def swap() -> None:
        for entry in folder.iterdir():
            if not entry.is_symlink():
                seen.append(entry.name)
                entry.unlink()
                entry.symlink_to(secret)

    for name in ("chown", "fchown", "chmod", "fchmod", "rename", "replace"):
        real = getattr(os, name)

        def swapped(*arguments: object, _real: object = real, **words: object) -> object:
            swap()
            assert callable(_real)
            return _real(*arguments, **words)

        monkeypatch.setattr(os, name, swapped)
    yield folder


def test_frr_cannot_redirect_what_the_agent_writes_after_a_commit(attacked: Path, secret: Path) -> None:
    """The way from user frr to root: the file was given to frr by its path, which a link had taken."""
    with pytest.raises(UnsafeFolder, match="belongs to user 65534"):
        FrrBackend("dataplane", attacked, attacked, client=FakeFrr()).committed(WantedRouting(Routing()))
    assert untouched(secret)
    assert list(attacked.iterdir()) == []


def test_frr_cannot_redirect_what_the_library_writes(attacked: Path, secret: Path) -> None:
    with pytest.raises(PermissionError, match="has to belong to root"):
        write_startup(FakeFrr().observe(), attacked)
    assert untouched(secret)


def test_frr_reads_its_file_and_cannot_write_it(tmp_path: Path) -> None:
    FrrBackend("dataplane", tmp_path, tmp_path, client=FakeFrr()).committed(WantedRouting(Routing()))
    written = (tmp_path / "frr.conf").stat()
    assert (written.st_uid, written.st_mode & 0o777) == (0, 0o640)


def test_the_library_writes_as_the_agent_does(tmp_path: Path) -> None:
    config = FakeFrr().observe()
    assert isinstance(config, FrrConfig)
    place = write_startup(config, tmp_path)
    assert (place.stat().st_uid, place.stat().st_mode & 0o777) == (0, 0o640)
    assert place.read_text() == config.text()


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o1777])
def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(mode)
    for write in (
        lambda: durable.write(folder / "file", b""),
        lambda: durable.link(folder / "file", "target"),
        lambda: durable.append(folder / "file", b"", 0),
        lambda: durable.lock_file(folder / "file"),
        lambda: durable.make_folder(folder / "file"),
        lambda: durable.remove(folder / "file"),
    ):
        with pytest.raises(UnsafeFolder, match="others may write"):
            write()
    assert list(folder.iterdir()) == []


def test_every_folder_on_the_way_counts(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    (theirs / "ours").mkdir(parents=True)
    os.chown(theirs, NOBODY, NOBODY)
    with pytest.raises(UnsafeFolder, match=f"{theirs} belongs to user {NOBODY}"):
        durable.write(theirs / "ours" / "file", b"")


def test_a_link_on_the_way_counts_with_the_folder_it_is_in(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    (theirs / "way").symlink_to(ours)
    (tmp_path / "way").symlink_to("theirs/../ours")
    durable.write(tmp_path / "way" / "file", b"as root wants")
    assert (ours / "file").read_bytes() == b"as root wants"
    os.chown(theirs, NOBODY, NOBODY)
    with pytest.raises(UnsafeFolder):
        durable.write(theirs / "way" / "file", b"led elsewhere")
    assert (ours / "file").read_bytes() == b"as root wants"
    # Nobody can change where ".." leads.
    durable.write(tmp_path / "way" / "file", b"still as root wants")


def test_a_ring_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(UnsafeFolder, match="symbolic links"):
        durable.write(tmp_path / "a" / "file", b"")


def test_what_a_crash_left_beside_is_replaced_and_links_are_not_followed(
    tmp_path: Path, secret: Path
) -> None:
    (tmp_path / ".file.new").symlink_to(secret)
    (tmp_path / "file").symlink_to(secret)
    durable.write(tmp_path / "file", b"new", 0o644, Owner(NOBODY, NOBODY))
    found = (tmp_path / "file").lstat()
    assert stat.S_ISREG(found.st_mode)
    assert (found.st_uid, found.st_mode & 0o777) == (NOBODY, 0o644)
    assert untouched(secret)
    (tmp_path / "part").symlink_to(secret)
    for follow in (
        lambda: durable.append(tmp_path / "part", b"x", 0),
        lambda: durable.lock_file(tmp_path / "part"),
    ):
        with pytest.raises(OSError, match="symbolic links"):
            follow()
    assert untouched(secret)


def test_a_failed_write_leaves_the_old_file_and_nothing_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    durable.write(tmp_path / "file", b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        durable.write(tmp_path / "file", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"


def test_a_labs_owner_may_own_the_folders_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_trusted", set[int]())
    os.chown(tmp_path, NOBODY, NOBODY)
    folders.trust([NOBODY])
    durable.write(tmp_path / "file", b"")
    assert (tmp_path / "file").stat().st_uid == 0
