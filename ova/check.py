"""Whether a platform will accept a file as an OVA: archive, manifest, descriptor and disk, each by its
rules.
"""

from __future__ import annotations

import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

from ova import manifest, rules, safe_xml, vmdk_read
from ova.errors import OvaError
from ova.vmdk import SECTOR_BYTES

_TEXT_LIMIT_BYTES = 4 << 20
_USTAR = b"ustar\x0000"


@dataclass(frozen=True)
class Report:
    """The result. ``facts`` are for people; no ``problems`` means the file is good."""

    facts: tuple[str, ...]
    problems: tuple[str, ...]


def check(path: Path) -> Report:
    """Read the whole file, in bounded memory. Raises OSError only."""
    found = _Check()
    try:
        with path.open("rb") as plain, tarfile.open(fileobj=plain, mode="r:") as archive:
            found.run(plain, archive)
    except tarfile.TarError as error:
        found.problems.append(f"archive: it is no tar archive: {error}")
    except OvaError as error:
        found.problems.append(str(error))
    return Report(tuple(found.facts), tuple(found.problems))


class _Check:
    def __init__(self) -> None:
        self.facts: list[str] = []
        self.problems: list[str] = []

    def run(self, plain: BinaryIO, archive: tarfile.TarFile) -> None:
        members = archive.getmembers()
        self._archive(plain, members)
        by_name = {member.name: member for member in members}
        if self.problems:
            return
        stem = members[0].name.removesuffix(".ovf")
        envelope = safe_xml.parse(_text(archive, members[0]))
        self.problems += [f"descriptor: {problem}" for problem in rules.problems(envelope)]
        if self.problems:
            return
        described = rules.described(envelope)
        self._manifest(archive, by_name, stem)
        for href, size in described.sizes.items():
            if href not in by_name:
                self.problems.append(f"descriptor: {href} is not in the archive")
            elif size is not None and by_name[href].size != size:
                self.problems.append(f"descriptor: {href} has {by_name[href].size} bytes, not {size}")
        wanted_order = [
            name
            for name in (members[0].name, f"{stem}.mf", f"{stem}.cert", *described.sizes)
            if name in by_name
        ]
        if [member.name for member in members] != wanted_order:
            self.problems.append(f"archive: its members are not, in this order, {', '.join(wanted_order)}")
        for disk in described.disks:
            if disk.href in by_name and disk.href.endswith(".vmdk"):
                self._disk(_open(archive, by_name[disk.href]), disk)

    def _archive(self, plain: BinaryIO, members: list[tarfile.TarInfo]) -> None:
        if not members or not members[0].name.endswith(".ovf"):
            self.problems.append("archive: its first member is not the descriptor (.ovf)")
        names = [member.name for member in members]
        for member in members:
            plain.seek(member.offset)
            if plain.read(512)[257:265] != _USTAR:
                self.problems.append(f"archive: {member.name!r} is not in the ustar format")
            if not member.isreg() or "/" in member.name or member.name.startswith("."):
                self.problems.append(f"archive: {member.name!r} is not a plain file at the top")
            if names.count(member.name) > 1:
                self.problems.append(f"archive: {member.name!r} comes more than once")
        self.facts.append(f"archive: {len(members)} members, {sum(member.size for member in members)} bytes")

    def _manifest(self, archive: tarfile.TarFile, by_name: dict[str, tarfile.TarInfo], stem: str) -> None:
        name = f"{stem}.mf"
        if name not in by_name:
            self.problems.append(f"manifest: {name} is missing")
            return
        raw = _text(archive, by_name[name])
        digests = manifest.read(raw)
        others = {found for found in by_name if not found.endswith((".mf", ".cert"))}
        for missing in sorted(others - set(digests)):
            self.problems.append(f"manifest: it has no digest of {missing}")
        for absent in sorted(set(digests) - others):
            self.problems.append(f"manifest: {absent} is not in the archive")
        for member, (algorithm, wanted) in digests.items():
            if member in others:
                found = manifest.digest(_open(archive, by_name[member]), algorithm)
                if found != wanted:
                    self.problems.append(f"manifest: the {algorithm} of {member} is {found}, not {wanted}")
        self.facts.append(f"manifest: {len(digests)} digests")
        if certificate := by_name.get(f"{stem}.cert"):
            subject = manifest.verify(_text(archive, certificate), raw, name)
            self.facts.append(f"certificate: signed by {subject}")

    def _disk(self, stream: BinaryIO, disk: rules.DiskReference) -> None:
        try:
            header = vmdk_read.read_header(stream)
            vmdk_read.read_descriptor(stream, header)
            capacity = header.capacity * SECTOR_BYTES
            if capacity != disk.capacity_bytes:
                self.problems.append(f"{disk.href}: it holds {capacity} bytes, not {disk.capacity_bytes}")
            stream.seek(0)
            count = sum(1 for _ in vmdk_read.grains(stream))
        except OvaError as error:
            self.problems.append(f"{disk.href}: {error}")
            return
        self.facts.append(
            f"disk: {disk.href}, {capacity} bytes, {count} grains of {header.grain * SECTOR_BYTES} bytes"
        )


def _open(archive: tarfile.TarFile, member: tarfile.TarInfo) -> BinaryIO:
    stream: IO[bytes] | None = archive.extractfile(member)
    if stream is None:
        raise OvaError(f"archive: {member.name} is not a plain file")
    return cast(BinaryIO, stream)


def _text(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    if member.size > _TEXT_LIMIT_BYTES:
        raise OvaError(f"archive: {member.name} is larger than {_TEXT_LIMIT_BYTES} bytes")
    return _open(archive, member).read()
