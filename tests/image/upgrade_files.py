"""Upgrade files that go wrong in known ways, made from the build's own and signed with its key."""

from __future__ import annotations

import json
import os
import tarfile
from pathlib import Path

import pytest

from appliance.upgrade import make, zstandard
from appliance.upgrade.bundle import MANIFEST, ROOT, Manifest
from lab.command import run
from tests.image import hypervisor
from tests.image.artefacts import REPOSITORY

KEY = Path(os.environ.get("MILLRACE_UPGRADE_KEY", REPOSITORY / ".keys" / "upgrade.pem"))


def manifest_of(upgrade: Path) -> Manifest:
    """The manifest, unverified."""
    with tarfile.open(upgrade) as archive:
        stream = archive.extractfile(MANIFEST)
        assert stream is not None
        return Manifest.model_validate_json(stream.read())


def with_flipped_byte(upgrade: Path, path: Path) -> Path:
    """A copy with one byte of the file system changed."""
    content = bytearray(upgrade.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    return path


def signed_by_another(upgrade: Path, directory: Path, version: str) -> Path:
    """The same system with the signature of a key that the router does not know."""
    key, public = directory / "other.pem", directory / "other.pub"
    assert make.main(["--new-key", str(key), "--public", str(public)]) == 0
    return _made(upgrade, directory, version, key, ())


def with_commands(upgrade: Path, directory: Path, version: str, commands: tuple[str, ...]) -> Path:
    """The same system, changed by `commands` of debugfs(8), and signed as good. Skips without the key."""
    if not KEY.exists():
        pytest.skip(f"the build's signing key is not here: {KEY}")
    return _made(upgrade, directory, version, KEY, commands)


def _made(upgrade: Path, directory: Path, version: str, key: Path, commands: tuple[str, ...]) -> Path:
    manifest = manifest_of(upgrade)
    directory.mkdir(parents=True, exist_ok=True)
    root = directory / "root.ext4"
    with tarfile.open(upgrade) as archive:
        packed_at = archive.getmember(ROOT).offset_data
    with root.open("wb") as file:
        for chunk in zstandard.unpacked(upgrade, packed_at, manifest.packed_bytes):
            file.write(chunk)
    for command in commands:
        run([*hypervisor.program("debugfs"), "-w", "-R", command, str(root)])
    release = directory / "release.json"
    run([*hypervisor.program("debugfs"), "-R", f"dump /usr/lib/millrace/release.json {release}", str(root)])
    release.write_text(json.dumps({**json.loads(release.read_text()), "version": version}))
    try:
        return make.make(root, release, key, directory)
    finally:
        root.unlink()
