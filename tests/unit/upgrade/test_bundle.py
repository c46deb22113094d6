"""The upgrade file: made, read, and refused when anything about it is wrong."""

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.upgrade import bundle, make, zstandard
from appliance.upgrade.errors import UpgradeRefused
from tests.unit.upgrade.appliance_on_disk import RELEASE, Appliance, file_system

Members = list[tuple[str, bytes]]


def _members(path: Path) -> Members:
    with tarfile.open(path) as archive:
        found = []
        for member in archive:
            stream = archive.extractfile(member)
            assert stream is not None
            found.append((member.name, stream.read()))
        return found


def _write(path: Path, members: Members) -> Path:
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_made_and_read(router: Appliance) -> None:
    content = file_system()
    made = router.upgrade_file(content)
    assert made.name == "millrace-2.0.0.mru"
    found = bundle.open_bundle(made, router.paths.public_key)
    bundle.check_packed(found)
    assert found.manifest.version == "2.0.0"
    assert found.manifest.root_bytes == len(content)
    unpacked = zstandard.unpacked(made, found.packed_at, found.manifest.packed_bytes)
    assert b"".join(unpacked) == content


def test_the_same_image_gives_the_same_file(router: Appliance) -> None:
    first = router.upgrade_file(file_system()).read_bytes()
    assert router.upgrade_file(file_system()).read_bytes() == first


def test_the_linux_data_plane_is_in_the_name(router: Appliance) -> None:
    assert router.upgrade_file(file_system(), dataplane="linux").name == "millrace-2.0.0-linux.mru"


def _with_manifest(**changes: object) -> Callable[[Members], Members]:
    def change(members: Members) -> Members:
        manifest = {**json.loads(members[0][1]), **changes}
        return [(members[0][0], json.dumps(manifest).encode()), *members[1:]]

    return change


@pytest.mark.parametrize(
    "change,said",
    [
        (lambda members: members[:2], "it does not hold"),
        (lambda members: [members[2], *members[:2]], "it does not hold"),
        (lambda members: [*members[:2], ("../root.ext4.zst", members[2][1])], "it does not hold"),
        (_with_manifest(version="9"), "not signed by the maker"),
        (lambda members: [members[0], (members[1][0], bytes(64)), members[2]], "not signed by the maker"),
        (lambda members: [members[0], (members[1][0], bytes(65)), members[2]], "manifest.sig has 65 bytes"),
        (lambda members: [(members[0][0], b" " * 70_000), *members[1:]], "manifest.json has 70000 bytes"),
        (lambda members: [*members[:2], (members[2][0], members[2][1][:-1])], "not whole"),
    ],
)
def test_a_changed_file(router: Appliance, change: Callable[[Members], Members], said: str) -> None:
    made = router.upgrade_file(file_system())
    changed = _write(made.with_suffix(".bad"), change(_members(made)))
    with pytest.raises(UpgradeRefused, match=said):
        bundle.open_bundle(changed, router.paths.public_key)


def test_a_changed_file_system(router: Appliance) -> None:
    made = router.upgrade_file(file_system())
    members = _members(made)
    packed = bytearray(members[2][1])
    packed[100] ^= 1
    changed = _write(made.with_suffix(".bad"), [*members[:2], (members[2][0], bytes(packed))])
    found = bundle.open_bundle(changed, router.paths.public_key)
    with pytest.raises(UpgradeRefused, match="damaged"):
        bundle.check_packed(found)


def test_a_file_that_ends_too_early(router: Appliance) -> None:
    made = router.upgrade_file(file_system())
    whole = made.read_bytes()
    made.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UpgradeRefused, match="ends too early"):
        bundle.open_bundle(made, router.paths.public_key)


def test_a_strangers_file(router: Appliance) -> None:
    made = router.upgrade_file(file_system(), key="stranger.pem")
    with pytest.raises(UpgradeRefused, match="not signed by the maker"):
        bundle.open_bundle(made, router.paths.public_key)


@pytest.mark.parametrize("content", [b"", b"not a tar at all" * 100, bytes(10240)])
def test_not_an_upgrade_file(router: Appliance, content: bytes) -> None:
    router.paths.upload.parent.mkdir(parents=True)
    router.paths.upload.write_bytes(content)
    with pytest.raises(UpgradeRefused, match="this is not an upgrade file"):
        bundle.open_bundle(router.paths.upload, router.paths.public_key)


def test_a_link_is_not_followed(router: Appliance, tmp_path: Path) -> None:
    path = tmp_path / "linked.mru"
    with tarfile.open(path, "w") as archive:
        for name in (bundle.MANIFEST, bundle.SIGNATURE, bundle.ROOT):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, "/etc/shadow"
            archive.addfile(member)
    with pytest.raises(UpgradeRefused, match="not a plain file"):
        bundle.open_bundle(path, router.paths.public_key)


def test_a_signed_manifest_of_another_kind(router: Appliance) -> None:
    """Content that a later release may write: it is named, not guessed at."""
    from appliance.upgrade import signing

    members = _members(router.upgrade_file(file_system()))
    raw = json.dumps({**json.loads(members[0][1]), "format": 2}).encode()
    signature = signing.sign(router.keys / "key.pem", raw)
    path = _write(router.keys / "later.mru", [(members[0][0], raw), (members[1][0], signature), members[2]])
    with pytest.raises(UpgradeRefused, match="of another kind: format"):
        bundle.open_bundle(path, router.paths.public_key)


def test_damaged_zstandard(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"no zstandard frame" * 1000)
    with pytest.raises(UpgradeRefused, match="does not unpack"):
        list(zstandard.unpacked(tmp_path / "x", 0, 18_000))


def test_unpacking_can_be_left(router: Appliance) -> None:
    """A reader that has enough ends the program without waiting."""
    made = router.upgrade_file(file_system(size=32 << 20))
    found = bundle.open_bundle(made, router.paths.public_key)
    unpacked = zstandard.unpacked(made, found.packed_at, found.manifest.packed_bytes)
    assert len(next(unpacked)) > 0
    unpacked.close()


def test_command_line(router: Appliance, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key, public = tmp_path / "new/key.pem", tmp_path / "upgrade.pub"
    assert make.main(["--new-key", str(key), "--public", str(public)]) == 0
    (tmp_path / "root.ext4").write_bytes(file_system())
    (tmp_path / "release.json").write_text(json.dumps(RELEASE))
    words = ["--root", str(tmp_path / "root.ext4"), "--release", str(tmp_path / "release.json")]
    assert make.main([*words, "--key", str(key), "--out", str(tmp_path / "dist")]) == 0
    made = tmp_path / "dist/millrace-1.0.0.mru"
    assert str(made) in capsys.readouterr().out
    assert make.main(["--check", str(made), "--public", str(public)]) == 0
    assert make.main(["--check", str(made), "--public", str(router.paths.public_key)]) == 1
    assert "not signed by the maker" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        make.main(words)
