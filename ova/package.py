"""The OVA: descriptor, manifest, certificate and disk in one ustar archive, the descriptor first."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ova import descriptor, manifest, vmdk
from ova.errors import OvaError

_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+~_-]{0,63}")
_CONVERT_S = 1800.0
_QCOW2 = b"QFI\xfb"


@dataclass(frozen=True)
class Signer:
    """The key pair that signs a manifest: PEM files of an RSA key and its certificate."""

    key: Path
    certificate: Path


@dataclass(frozen=True)
class Wanted:
    """The artefacts to build. ``mtime_s`` is the time of every member, seconds since 1970."""

    disk: Path
    version: str
    directory: Path
    dataplane: str = "vpp"
    mtime_s: int = 0
    signer: Signer | None = None
    qemu_img: Sequence[str] = ("qemu-img",)

    @property
    def stem(self) -> str:
        """Name of the artefact, without its suffix. The linux data plane is part of it."""
        return f"millrace-{self.version}" + ("" if self.dataplane == "vpp" else f"-{self.dataplane}")


def build(wanted: Wanted) -> Path:
    """Write the OVA and return its path. The same disk and arguments give the same bytes.

    ``directory`` needs room for the compressed disk twice. Raises OvaError and OSError.
    """
    if not _VERSION.fullmatch(wanted.version):
        raise OvaError(f"version {wanted.version!r} has characters that a file name should not have")
    wanted.directory.mkdir(parents=True, exist_ok=True)
    target = wanted.directory / f"{wanted.stem}.ova"
    with tempfile.TemporaryDirectory(prefix=".ova-", dir=wanted.directory) as scratch:
        folder = Path(scratch)
        disk = folder / f"{wanted.stem}-disk1.vmdk"
        written = vmdk.write(_raw(wanted, folder), disk)
        product = descriptor.Product("millrace", wanted.version, wanted.dataplane)
        described = descriptor.render(
            product,
            descriptor.Disk(disk.name, written.size_bytes, written.capacity_bytes, written.populated_bytes),
        )
        members = _texts(wanted, described, disk)
        finished = folder / target.name
        with tarfile.open(finished, "w", format=tarfile.USTAR_FORMAT) as archive:
            for name, content in members.items():
                archive.addfile(_member(name, len(content), wanted.mtime_s), io.BytesIO(content))
            with disk.open("rb") as stream:
                archive.addfile(_member(disk.name, written.size_bytes, wanted.mtime_s), stream)
        finished.rename(target)
    return target


def _texts(wanted: Wanted, described: bytes, disk: Path) -> dict[str, bytes]:
    """The small members by name, in the order of the archive."""
    with disk.open("rb") as stream:
        disk_digest = manifest.digest(stream)
    ovf, mf = f"{wanted.stem}.ovf", f"{wanted.stem}.mf"
    digests = {ovf: manifest.digest(io.BytesIO(described)), disk.name: disk_digest}
    members = {ovf: described, mf: manifest.render(digests)}
    if wanted.signer is not None:
        members[f"{wanted.stem}.cert"] = manifest.sign(
            members[mf], mf, wanted.signer.key.read_bytes(), wanted.signer.certificate.read_bytes()
        )
    return members


def _member(name: str, size: int, mtime_s: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = size, mtime_s, 0o644
    member.uname = member.gname = "root"
    return member


def _raw(wanted: Wanted, folder: Path) -> Path:
    """The disk as a raw image: itself, or converted."""
    with wanted.disk.open("rb") as stream:
        if stream.read(4) != _QCOW2:
            return wanted.disk
    raw = folder / "disk.raw"
    argv = [*wanted.qemu_img, "convert", "-f", "qcow2", "-O", "raw", "--", str(wanted.disk), str(raw)]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_CONVERT_S, check=False)
    except FileNotFoundError:
        raise OvaError(f"{argv[0]} is not installed; it is needed to read {wanted.disk.name}") from None
    except subprocess.TimeoutExpired:
        raise OvaError(f"{argv[0]} took longer than {_CONVERT_S:.0f} s") from None
    if done.returncode != 0:
        raise OvaError(f"{argv[0]} does not read {wanted.disk.name}: {done.stderr.strip()[-500:]}")
    return raw
