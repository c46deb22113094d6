"""The upgrade file, ``.mru``: a tar of manifest, its signature and the compressed root file system.

::

    manifest.json      what it is, sizes and digests
    manifest.sig       Ed25519 signature of manifest.json, 64 bytes
    root.ext4.zst      the file system of a slot, Zstandard (RFC 8878)
"""

from __future__ import annotations

import hashlib
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from appliance.upgrade import signing
from appliance.upgrade.errors import UpgradeRefused

MANIFEST, SIGNATURE, ROOT = "manifest.json", "manifest.sig", "root.ext4.zst"
MAX_BUNDLE_BYTES = 2 << 30
MAX_MANIFEST_BYTES = 64 << 10
_CHUNK_BYTES = 1 << 20
_USTAR_HEADER_BYTES = 512

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Version = Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z][0-9A-Za-z.+~_-]{0,63}$")]


class Manifest(BaseModel):
    """Contents of ``manifest.json``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    architecture: Literal["amd64"] = "amd64"
    version: Version
    commit: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{7,64}$|^unknown$")]
    built_s: int = Field(ge=0)
    dataplane: Literal["vpp", "linux"]
    schema_version: int = Field(ge=1)
    """Newest version of the configuration's schema that it reads."""
    packed_bytes: int = Field(gt=0, le=MAX_BUNDLE_BYTES)
    packed_sha256: Digest
    """Of ``root.ext4.zst``."""
    root_bytes: int = Field(gt=0, multiple_of=4096)
    root_sha256: Digest
    """Of the file system."""


@dataclass(frozen=True)
class Bundle:
    """An upgrade file whose signature is good."""

    path: Path
    manifest: Manifest
    packed_at: int
    """Offset of the compressed file system, bytes."""


def open_bundle(path: Path, public_key: Path, size_bytes: int | None = None) -> Bundle:
    """Read manifest and signature; the file system itself is not read yet. Raises UpgradeRefused.

    ``size_bytes`` is the size of the complete file; by default the file is taken to be complete.
    """
    try:
        size = path.stat().st_size if size_bytes is None else size_bytes
        with path.open("rb") as plain, tarfile.open(fileobj=plain, mode="r:") as archive:
            members = [archive.next() for _ in range(3)]
            _check_members(members, size)
            manifest_member, signature_member, root = (member for member in members if member is not None)
            raw = _read(archive, manifest_member, MAX_MANIFEST_BYTES)
            signature = _read(archive, signature_member, signing.SIGNATURE_BYTES)
    except (OSError, tarfile.TarError, ValueError) as error:
        raise UpgradeRefused(f"this is not an upgrade file: {error}") from None
    # Nothing of the manifest is believed, or even parsed, before its signature is found good.
    signing.verify(public_key, raw, signature)
    try:
        manifest = Manifest.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UpgradeRefused(
            f"the upgrade file's manifest is of another kind: {place}: {first['msg']}"
        ) from None
    if root.size != manifest.packed_bytes:
        raise UpgradeRefused(
            f"the upgrade file is not whole: {ROOT} has {root.size} bytes, not {manifest.packed_bytes}"
        )
    return Bundle(path, manifest, root.offset_data)


def check_packed(bundle: Bundle) -> None:
    """Compare the compressed file system with its signed digest. Raises UpgradeRefused."""
    found, left = hashlib.sha256(), bundle.manifest.packed_bytes
    with bundle.path.open("rb") as stream:
        stream.seek(bundle.packed_at)
        while left and (chunk := stream.read(min(_CHUNK_BYTES, left))):
            found.update(chunk)
            left -= len(chunk)
    if left or found.hexdigest() != bundle.manifest.packed_sha256:
        raise UpgradeRefused("the upgrade file is damaged: its content does not match its signed digest")


def _check_members(members: list[tarfile.TarInfo | None], size: int) -> None:
    names = [member.name if member is not None else "" for member in members]
    if names != [MANIFEST, SIGNATURE, ROOT]:
        raise ValueError(f"it does not hold {MANIFEST}, {SIGNATURE} and {ROOT}, in this order")
    if not all(member is not None and member.isreg() for member in members):
        raise ValueError("it holds something that is not a plain file")
    root = members[2]
    if root is not None and root.offset_data + root.size > size:
        raise ValueError("it ends too early")


def _read(archive: tarfile.TarFile, member: tarfile.TarInfo, most_bytes: int) -> bytes:
    if member.size > most_bytes:
        raise ValueError(f"{member.name} has {member.size} bytes")
    stream = archive.extractfile(member)
    if stream is None:
        raise ValueError(f"{member.name} is not a plain file")
    return stream.read()
