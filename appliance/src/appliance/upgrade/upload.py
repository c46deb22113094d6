"""An upgrade file that arrives in parts, each going on where the last one ended."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from appliance.engine import durable
from appliance.errors import Conflict, Problem, ValidationFailed
from appliance.upgrade import bundle as bundles
from appliance.upgrade import release
from appliance.upgrade.bundle import MAX_BUNDLE_BYTES, Manifest
from appliance.upgrade.errors import UpgradeRefused
from appliance.upgrade.install import admit
from appliance.upgrade.paths import Paths

MAX_PART_BYTES = 16 << 20
_HEAD_BYTES = 256 << 10
"""By then manifest and signature have arrived, whatever their sizes."""
_SPARE_BYTES = 128 << 20
"""Space that must stay free on the data partition."""


@dataclass(frozen=True)
class Uploaded:
    """The progress of an upload."""

    received_bytes: int
    size_bytes: int
    manifest: Manifest | None
    """Known, and its signature good, from the first part on."""

    @property
    def whole(self) -> bool:
        """All of it has arrived."""
        return self.received_bytes == self.size_bytes


class Upload:
    """The single upload of a router. Not thread-safe."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._part = paths.upload.with_suffix(".part")
        self._size: int | None = None

    def add(self, data: bytes, offset: int, size: int, document_schema: int) -> Uploaded:
        """Append a part of a file that will have ``size`` bytes; offset 0 begins anew.

        The last part may come again, as its answer may have been lost. Signature and manifest are checked as
        soon as they arrive: an unsuitable file is refused before the rest of it is sent. Raises
        ValidationFailed, Conflict, UpgradeRefused, OSError.
        """
        _check_range(len(data), offset, size)
        if again := self._again(data, offset, size):
            return again
        if offset == 0:
            self.forget()
            self._check_room(size)
            self._size = size
        elif self._size not in (None, size):
            raise Conflict(f"another upgrade file, of {self._size} bytes, is being sent: start again from 0")
        received = self._received()
        if offset != received:
            raise Conflict(
                f"{received} bytes of the upgrade file are here: continue from there, or start again from 0"
            )
        self._append(data, offset)
        received += len(data)
        manifest = None
        if received == size or received >= _HEAD_BYTES:
            manifest = self._admitted(size, document_schema)
        if received == size:
            durable.rename(self._part, self._paths.upload.name)
        return Uploaded(received, size, manifest)

    def whole(self) -> Manifest | None:
        """The upload; None when there is none, or it is unsuitable."""
        try:
            return bundles.open_bundle(self._paths.upload, self._paths.public_key).manifest
        except UpgradeRefused:
            return None

    def forget(self) -> None:
        """Remove the upload. Raises OSError."""
        self._part.unlink(missing_ok=True)
        self._paths.upload.unlink(missing_ok=True)

    def _again(self, data: bytes, offset: int, size: int) -> Uploaded | None:
        """What is here when it ends with just this part."""
        here = self._part if self._part.exists() else self._paths.upload
        try:
            received = here.stat().st_size
            if received != offset + len(data) or (here == self._paths.upload and received != size):
                return None
            with here.open("rb") as stream:
                stream.seek(offset)
                if stream.read() != data:
                    return None
        except FileNotFoundError:
            return None
        known = received == size or received >= _HEAD_BYTES
        manifest = bundles.open_bundle(here, self._paths.public_key, size).manifest if known else None
        return Uploaded(received, size, manifest)

    def _received(self) -> int:
        try:
            return self._part.stat().st_size
        except FileNotFoundError:
            return 0

    def _append(self, data: bytes, offset: int) -> None:
        durable.make_folder(self._part.parent, 0o700)
        # Half a part would make every later one misplaced.
        durable.append(self._part, data, offset)

    def _admitted(self, size: int, document_schema: int) -> Manifest:
        try:
            found = bundles.open_bundle(self._part, self._paths.public_key, size)
            admit(found.manifest, release.read(self._paths.release), document_schema)
        except UpgradeRefused:
            self.forget()
            raise
        return found.manifest

    def _check_room(self, size: int) -> None:
        state: Path = self._paths.state
        durable.make_folder(state, 0o700)
        free = shutil.disk_usage(state).free
        if free < size + _SPARE_BYTES:
            needed = (size + _SPARE_BYTES) >> 20
            raise UpgradeRefused(f"the data partition has {free >> 20} MiB free, {needed} are needed")


def _check_range(length: int, offset: int, size: int) -> None:
    if not 0 < size <= MAX_BUNDLE_BYTES:
        raise ValidationFailed([Problem("/size", f"is from 1 to {MAX_BUNDLE_BYTES} bytes")])
    if not 0 < length <= MAX_PART_BYTES:
        raise ValidationFailed([Problem("", f"a part has from 1 to {MAX_PART_BYTES} bytes, not {length}")])
    if offset < 0 or offset + length > size:
        message = f"{length} bytes at {offset} are more than the whole of {size}"
        raise ValidationFailed([Problem("/offset", message)])
