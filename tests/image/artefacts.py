"""The result of `make ova` in dist/: the image under test, its OVA and its upgrade file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
DIRECTORY_VARIABLE = "MILLRACE_DIST"


@dataclass(frozen=True)
class Artefacts:
    """One build: the files that belong to `disk`. `ova` and `upgrade` are None where they were not built."""

    disk: Path
    ova: Path | None
    upgrade: Path | None

    @property
    def dataplane(self) -> str:
        """The data plane of this image, from its name."""
        return "linux" if self.disk.stem.endswith("-linux") else "vpp"

    @classmethod
    def of(cls, disk: Path) -> Artefacts:
        """The artefacts beside a disk."""

        def beside(suffix: str) -> Path | None:
            path = disk.with_suffix(suffix)
            return path if path.exists() else None

        return cls(disk, beside(".ova"), beside(".mru"))


def find() -> Artefacts:
    """The newest build, one with VPP before one without. Skips where nothing was built.

    MILLRACE_DIST names another directory than dist/.
    """
    directory = Path(os.environ.get(DIRECTORY_VARIABLE, REPOSITORY / "dist")).resolve()
    disks = sorted(directory.glob("millrace-*.qcow2"), key=lambda path: path.stat().st_mtime, reverse=True)
    if not disks:
        pytest.skip(f"no image in {directory}: run `make ova` first")
    builds = [Artefacts.of(disk) for disk in disks]
    return next((build for build in builds if build.dataplane == "vpp"), builds[0])
