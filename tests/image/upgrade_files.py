"""Upgrade files that go wrong in known ways: the system in the build's own, changed, signed with its key."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from appliance.upgrade import make, zstandard
from appliance.upgrade.bundle import MANIFEST, ROOT, Manifest
from lab.command import run
from tests.image import hypervisor
from tests.image.artefacts import REPOSITORY

RELEASE = "usr/lib/millrace/release.json"
_OF_A_SYSTEM_THAT_COMES_UP = (
    *("usr/lib/millrace", "usr/lib/python3*", "usr/lib/modules", "usr/lib/firmware", "usr/lib/postgresql"),
    *("usr/lib/frr", "usr/lib/x86_64-linux-gnu/vpp_plugins", "usr/share"),
)
_SPARE_BYTES = 64 << 20
KEY = Path(os.environ.get("MILLRACE_UPGRADE_KEY", REPOSITORY / ".keys" / "upgrade.pem"))


def manifest_of(upgrade: Path) -> Manifest:
    """The manifest, unverified."""
    with tarfile.open(upgrade) as archive:
        stream = archive.extractfile(MANIFEST)
        assert stream is not None
        return Manifest.model_validate_json(stream.read())


def unpacked_root(upgrade: Path, root: Path) -> Path:
    """The file system in an upgrade file, as `root`."""
    manifest = manifest_of(upgrade)
    root.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(upgrade) as archive:
        packed_at = archive.getmember(ROOT).offset_data
    with root.open("wb") as file:
        for chunk in zstandard.unpacked(upgrade, packed_at, manifest.packed_bytes):
            file.seek(len(chunk), os.SEEK_CUR) if chunk.count(0) == len(chunk) else file.write(chunk)
        file.truncate(manifest.root_bytes)
    return root


def small_root(root: Path, small: Path) -> Path:
    """The same system without what only a system that comes up needs, as `small`: a fifth of the size.

    Packing, sending and writing the whole one takes an emulated router longer than failing to boot it does.
    """
    tree = small.with_suffix(".tree")
    tree.mkdir()
    _debugfs(root, f"rdump / {tree}")
    for name in _OF_A_SYSTEM_THAT_COMES_UP:
        for path in sorted(tree.glob(name)):
            shutil.rmtree(path)
    release = tree / RELEASE
    release.parent.mkdir()
    _debugfs(root, f"dump /{RELEASE} {release}")
    content_bytes = int(run(["du", "--summarize", "--block-size=1", str(tree)], timeout_s=300).split()[0])
    with small.open("wb") as file:
        file.truncate((content_bytes + content_bytes // 4 + _SPARE_BYTES) & ~0xFFFFF)
    made = [
        "mkfs.ext4",
        "-q",
        "-F",
        "-m",
        "0",
        "-L",
        "mr-root",
        "-O",
        "^has_journal",
        "-d",
        str(tree),
        str(small),
    ]
    run([*hypervisor.program(made[0]), *made[1:]], timeout_s=300)
    shutil.rmtree(tree)
    return small


def with_flipped_byte(root: Path, directory: Path) -> Path:
    """An upgrade to this file system, one byte of it changed after it was signed. Skips without the key."""
    good = with_commands(root, directory, "9.9.8", ())
    content = bytearray(good.read_bytes())
    content[len(content) // 2] ^= 0xFF
    good.write_bytes(content)
    return good


def signed_by_another(root: Path, directory: Path, version: str) -> Path:
    """An upgrade to this file system with the signature of a key that the router does not know."""
    directory.mkdir(parents=True)
    key, public = directory / "other.pem", directory / "other.pub"
    assert make.main(["--new-key", str(key), "--public", str(public)]) == 0
    return _made(root, directory, version, key)


def with_commands(root: Path, directory: Path, version: str, commands: tuple[str, ...]) -> Path:
    """An upgrade to this file system, changed by `commands` of debugfs(8), and signed as good.

    Skips without the key.
    """
    if not KEY.exists():
        pytest.skip(f"the build's signing key is not here: {KEY}")
    directory.mkdir(parents=True)
    changed = directory / "root.ext4"
    run(["cp", "--sparse=always", str(root), str(changed)], timeout_s=300)
    for command in commands:
        _debugfs(changed, command, "-w")
    try:
        return _made(changed, directory, version, KEY)
    finally:
        changed.unlink()


def _made(root: Path, directory: Path, version: str, key: Path) -> Path:
    release = directory / "release.json"
    _debugfs(root, f"dump /{RELEASE} {release}")
    release.write_text(json.dumps({**json.loads(release.read_text()), "version": version}))
    return make.make(root, release, key, directory)


def _debugfs(root: Path, command: str, *options: str) -> None:
    run([*hypervisor.program("debugfs"), *options, "-R", command, str(root)], timeout_s=600)
