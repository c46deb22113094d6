"""The OVA as a whole: order, digests, signature, reproducibility; and the check's report on a bad one."""

import datetime as dt
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from ova import __main__ as command
from ova import check, manifest, package
from ova.errors import OvaError
from ova.vmdk import GRAIN_BYTES

Members = list[tuple[str, bytes]]
EPOCH_S = 1_700_000_000


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def _pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _certificate(key: rsa.RSAPrivateKey) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "builder")])
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(start)
        .not_valid_after(start + dt.timedelta(days=3650))
        .sign(key, SHA256())
    )
    return certificate.public_bytes(Encoding.PEM)


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    path = tmp_path / "disk.raw"
    with path.open("wb") as stream:
        stream.truncate(64 * GRAIN_BYTES)
        stream.seek(5 * GRAIN_BYTES)
        stream.write(b"a system")
    return path


@pytest.fixture
def built(disk: Path, tmp_path: Path) -> Path:
    return package.build(package.Wanted(disk, "1.2.3", tmp_path / "dist", mtime_s=EPOCH_S))


def _members(path: Path) -> Members:
    with tarfile.open(path) as archive:
        return [(member.name, _content(archive, member)) for member in archive]


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member)
    assert stream is not None
    return stream.read()


def _write(path: Path, members: Members, tar_format: int = tarfile.USTAR_FORMAT) -> Path:
    with tarfile.open(path, "w", format=tar_format) as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            if tar_format == tarfile.PAX_FORMAT:
                member.pax_headers = {"comment": "x"}
            archive.addfile(member, io.BytesIO(content))
    return path


def test_what_is_built_is_good(built: Path) -> None:
    report = check.check(built)
    assert report.problems == ()
    assert built.name == "millrace-1.2.3.ova"
    assert any("1 grains" in fact for fact in report.facts)


def test_members_and_their_order(built: Path) -> None:
    with tarfile.open(built) as archive:
        members = archive.getmembers()
    assert [member.name for member in members] == [
        "millrace-1.2.3.ovf",
        "millrace-1.2.3.mf",
        "millrace-1.2.3-disk1.vmdk",
    ]
    assert {(member.mtime, member.mode, member.uid, member.uname) for member in members} == {
        (EPOCH_S, 0o644, 0, "root")
    }


def test_same_disk_same_bytes(built: Path, disk: Path, tmp_path: Path) -> None:
    again = package.build(package.Wanted(disk, "1.2.3", tmp_path / "again", mtime_s=EPOCH_S))
    assert again.read_bytes() == built.read_bytes()


def test_the_linux_data_plane_is_in_the_name(disk: Path, tmp_path: Path) -> None:
    made = package.build(package.Wanted(disk, "1.2.3", tmp_path, dataplane="linux"))
    assert made.name == "millrace-1.2.3-linux.ova"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".ova-")] == []


def test_signed(disk: Path, tmp_path: Path, key: rsa.RSAPrivateKey) -> None:
    (tmp_path / "key.pem").write_bytes(_pem(key))
    (tmp_path / "certificate.pem").write_bytes(_certificate(key))
    signer = package.Signer(tmp_path / "key.pem", tmp_path / "certificate.pem")
    made = package.build(package.Wanted(disk, "1.2.3", tmp_path / "dist", signer=signer))
    assert [name for name, _ in _members(made)][1:3] == ["millrace-1.2.3.mf", "millrace-1.2.3.cert"]
    report = check.check(made)
    assert report.problems == ()
    assert "certificate: signed by CN=builder" in report.facts


def test_a_signature_of_something_else_is_seen(disk: Path, tmp_path: Path, key: rsa.RSAPrivateKey) -> None:
    signed = manifest.sign(b"one", "a.mf", _pem(key), _certificate(key))
    assert manifest.verify(signed, b"one", "a.mf") == "CN=builder"
    with pytest.raises(OvaError, match="not of this manifest"):
        manifest.verify(signed, b"two", "a.mf")
    with pytest.raises(OvaError, match="first line"):
        manifest.verify(signed, b"one", "b.mf")


def test_keys_that_cannot_sign(key: rsa.RSAPrivateKey) -> None:
    other = rsa.generate_private_key(65537, 2048)
    with pytest.raises(OvaError, match="another key"):
        manifest.sign(b"x", "a.mf", _pem(other), _certificate(key))
    with pytest.raises(OvaError, match="not an RSA key"):
        manifest.sign(b"x", "a.mf", _pem(ec.generate_private_key(ec.SECP256R1())), _certificate(key))
    with pytest.raises(OvaError, match="cannot be read"):
        manifest.sign(b"x", "a.mf", b"no key", _certificate(key))


def test_a_version_with_a_slash_is_refused(disk: Path, tmp_path: Path) -> None:
    with pytest.raises(OvaError, match="version"):
        package.build(package.Wanted(disk, "../1", tmp_path))


def test_qcow2_without_its_reader(tmp_path: Path) -> None:
    (tmp_path / "disk.qcow2").write_bytes(b"QFI\xfb" + bytes(508))
    wanted = package.Wanted(tmp_path / "disk.qcow2", "1", tmp_path, qemu_img=("there-is-no-such-program",))
    with pytest.raises(OvaError, match="there-is-no-such-program is not installed"):
        package.build(wanted)


def _changed_disk(members: Members) -> Members:
    return [(name, data[:-1] + b"x" if name.endswith(".vmdk") else data) for name, data in members]


def _disk_first(members: Members) -> Members:
    return [members[2], *members[:2]]


def _manifest_last(members: Members) -> Members:
    return [members[0], members[2], members[1]]


def _without(ending: str) -> Callable[[Members], Members]:
    return lambda members: [entry for entry in members if not entry[0].endswith(ending)]


def _with_stranger(members: Members) -> Members:
    return [*members, ("evil.sh", b"#!/bin/sh")]


def _in_folder(members: Members) -> Members:
    return [*members[:2], (f"../{members[2][0]}", members[2][1])]


def _sha1(members: Members) -> Members:
    return [members[0], (members[1][0], members[1][1].replace(b"SHA256", b"SHA1")), members[2]]


@pytest.mark.parametrize(
    "change,said",
    [
        (_changed_disk, "the sha256 of millrace-1.2.3-disk1.vmdk is"),
        (_disk_first, "first member is not the descriptor"),
        (_manifest_last, "its members are not, in this order"),
        (_without(".mf"), "millrace-1.2.3.mf is missing"),
        (_without(".vmdk"), "is not in the archive"),
        (_with_stranger, "no digest of evil.sh"),
        (_in_folder, "is not a plain file at the top"),
        (_sha1, "it is not SHA256"),
    ],
)
def test_a_bad_package(built: Path, tmp_path: Path, change: Callable[[Members], Members], said: str) -> None:
    report = check.check(_write(tmp_path / "bad.ova", change(_members(built))))
    assert any(said in problem for problem in report.problems), report.problems


def test_another_tar_format_is_seen(built: Path, tmp_path: Path) -> None:
    report = check.check(_write(tmp_path / "gnu.ova", _members(built), tarfile.GNU_FORMAT))
    assert any("ustar" in problem for problem in report.problems)


def test_no_archive_at_all(tmp_path: Path) -> None:
    (tmp_path / "no.ova").write_bytes(b"\x00" * 5000 + b"no")
    assert check.check(tmp_path / "no.ova").problems


def test_command_line(
    disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(EPOCH_S))
    made = tmp_path / "millrace-9.ova"
    assert command.main(["build", "--disk", str(disk), "--version", "9", "--out", str(tmp_path)]) == 0
    assert command.main(["check", str(made)]) == 0
    assert "good" in capsys.readouterr().out
    made.write_bytes(made.read_bytes()[:-20000])
    assert command.main(["check", str(made)]) == 1
    assert "millrace-9.ova" in capsys.readouterr().err


def test_a_bad_epoch_is_refused(
    disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert command.main(["build", "--disk", str(disk), "--version", "9", "--out", str(tmp_path)]) == 1
    assert "SOURCE_DATE_EPOCH is 'yesterday'" in capsys.readouterr().err
