"""Changes to the root tree other than running programs in it."""

import os
from pathlib import Path

import pytest

from packer.image.compare import differences
from packer.image.python_code import forget
from packer.image.root_tree import move_package_database, remove_matching, write_system_files
from packer.image.system_overlay import copy_overlay
from packer.image.vpp_packages import _forget_sysctl


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree with the folders that Debian's base-files brings."""
    tree = tmp_path / "root"
    for folder in ("etc/sysctl.d", "var/lib/dpkg/info", "usr/lib"):
        (tree / folder).mkdir(parents=True)
    return tree


def test_what_belongs_to_no_image_is_removed(root: Path) -> None:
    """Files, folders and links that match, and nothing beside them."""
    (root / "etc/ssh").mkdir()
    for name in ("ssh_host_rsa_key", "ssh_host_rsa_key.pub", "sshd_config"):
        (root / "etc/ssh" / name).touch()
    (root / "etc/link").symlink_to("/nowhere")
    remove_matching(root, ["etc/ssh/ssh_host_*", "etc/link", "etc/absent", "var/lib/*"])
    assert [path.name for path in (root / "etc/ssh").iterdir()] == ["sshd_config"]
    assert not (root / "etc/link").is_symlink()
    assert not (root / "var/lib/dpkg").exists()


def test_the_system_files_leave_nothing_of_an_instance(root: Path) -> None:
    """No machine-id, and the ESP mounted only on demand."""
    write_system_files(root)
    assert (root / "etc/machine-id").read_text() == "uninitialized\n"
    assert "PARTLABEL=mr-esp /efi vfat umask=0077" in (root / "etc/fstab").read_text()
    assert "x-systemd.automount" in (root / "etc/fstab").read_text()
    assert {path.name for path in root.iterdir()} >= {"data", "efi"}
    assert (root / "etc/systemd/system-generators/systemd-ssh-generator").readlink() == Path("/dev/null")
    write_system_files(root)  # a stage that is run again


def test_the_package_database_is_the_slots(root: Path) -> None:
    """/var is the instance's and outlives an upgrade; the list of packages must not."""
    move_package_database(root)
    move_package_database(root)
    assert (root / "var/lib/dpkg").readlink() == Path("/usr/lib/millrace/dpkg")
    assert (root / "usr/lib/millrace/dpkg/info").is_dir()


def test_an_overlay_replaces_files_and_links(tmp_path: Path, root: Path) -> None:
    """Its modes are 0644 and 0755 whatever the checkout's umask; a link is replaced, not written through."""
    overlay = tmp_path / "overlay"
    (overlay / "etc/systemd/system").mkdir(parents=True)
    (overlay / "etc/program").write_text("new")
    (overlay / "etc/program").chmod(0o700)
    (overlay / "etc/settings").write_text("new")
    (overlay / "etc/settings").chmod(0o600)
    (overlay / "etc/systemd/system/getty@tty1.service").symlink_to("/dev/null")
    (tmp_path / "elsewhere").write_text("old")
    (root / "etc/settings").symlink_to(tmp_path / "elsewhere")
    copy_overlay(overlay, root)
    assert (root / "etc/program").stat().st_mode & 0o777 == 0o755
    assert (root / "etc/settings").stat().st_mode & 0o777 == 0o644
    assert (root / "etc/settings").read_text() == "new"
    assert (tmp_path / "elsewhere").read_text() == "old"
    assert (root / "etc/systemd/system/getty@tty1.service").readlink() == Path("/dev/null")


def test_what_the_installer_noted_is_forgotten(root: Path) -> None:
    """The file and its line; every other line stays as it was."""
    info = root / "thing-1.dist-info"
    info.mkdir()
    (info / "uv_cache.json").write_text('{"timestamp": 1}')
    (info / "RECORD").write_text(
        "thing.py,sha256=a,1\nthing-1.dist-info/uv_cache.json,sha256=b,9\nthing-1.dist-info/RECORD,,\n"
    )
    forget(info / "uv_cache.json")
    assert not (info / "uv_cache.json").exists()
    assert (info / "RECORD").read_text() == "thing.py,sha256=a,1\nthing-1.dist-info/RECORD,,\n"


def test_vpps_huge_pages_are_not_reserved(root: Path) -> None:
    """1,024 pages are all the memory of a small router."""
    settings = root / "etc/sysctl.d/80-vpp.conf"
    settings.write_text(
        "# theirs\nvm.nr_hugepages=1024\nvm.max_map_count=3096\nkernel.shmmax=2147483648\nnet.x=1\n"
    )
    _forget_sysctl(root)
    lines = [line for line in settings.read_text().splitlines() if not line.startswith("#")]
    assert lines == ["net.x=1"]


def test_two_trees_are_compared_path_by_path(tmp_path: Path) -> None:
    """Content, mode, time, target of a link, and what is only in one."""
    for name in ("first", "second"):
        (tmp_path / name / "folder").mkdir(parents=True)
        for file in ("same", "mode", "content", "time"):
            (tmp_path / name / "folder" / file).write_text("text")
            os.utime(tmp_path / name / "folder" / file, (1, 1))
        (tmp_path / name / "link").symlink_to(name)
    second = tmp_path / "second"
    (second / "folder/mode").chmod(0o600)
    (second / "folder/content").write_text("else")
    os.utime(second / "folder/content", (1, 1))
    os.utime(second / "folder/time", (2, 2))
    (tmp_path / "first/gone").mkdir()
    for path in (tmp_path / "first", second):
        for place in (path / "folder", path / "link", path):
            os.utime(place, (1, 1), follow_symlinks=False)
    assert list(differences(tmp_path / "first", second)) == [
        "folder/content: content",
        "folder/mode: mode",
        "folder/time: time",
        "gone: only in the first",
        "link: target",
    ]
