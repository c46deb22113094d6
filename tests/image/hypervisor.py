"""QEMU: which one runs, and with which firmware.

Version 10 or newer, for older ones fault with current kernels under emulation. `packer/qemu` runs the one
that the image build brought along. MILLRACE_QEMU names another (a qemu-system-x86_64 with its siblings beside
it), MILLRACE_ACCEL another accelerator than emulation.
"""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

import pytest

from lab.command import run
from lab.errors import LabError
from tests.image.artefacts import REPOSITORY

_OLDEST_MAJOR = 10
_SLOW_TO_EMULATE = (
    *("avx", "avx2", "f16c", "fma", "vaes"),
    *("erms", "fsrm", "smap", "pku", "umip", "mpx", "la57"),
)
"""What kernel, C library and VPP use where the CPU has it. Without it a boot takes a quarter less."""
_WRAPPER = REPOSITORY / "packer" / "qemu"
_OVMF = Path("usr/share/OVMF")


def program(name: str = "qemu-system-x86_64") -> list[str]:
    """The beginning of the argument vector that runs one of QEMU's programs, or another tool beside them."""
    chosen = os.environ.get("MILLRACE_QEMU")
    if chosen is not None:
        return [str(Path(chosen).with_name(name))]
    return [str(_WRAPPER), name]


def accelerator() -> list[str]:
    """The arguments that choose accelerator and CPU model."""
    chosen = os.environ.get("MILLRACE_ACCEL", "tcg,thread=multi")
    without = _SLOW_TO_EMULATE if chosen.startswith("tcg") else ()
    return ["-accel", chosen, "-cpu", ",".join(["max", *(f"{feature}=off" for feature in without)])]


@functools.cache
def require() -> str:
    """The version of QEMU; skips where there is none new enough."""
    try:
        said = run([*program(), "--version"])
    except (LabError, OSError) as error:
        pytest.skip(f"no QEMU: {error}")
    found = re.search(r"version (\d+)[.\d]*", said)
    if found is None or int(found[1]) < _OLDEST_MAJOR:
        pytest.skip(f"QEMU {_OLDEST_MAJOR} or newer is needed, not: {said.splitlines()[0]}")
    return found[0]


def overlay(path: Path, base: Path, *, base_format: str = "qcow2") -> Path:
    """A disk that begins as `base` and keeps what is written to itself; returns `path`."""
    create = ["create", "-q", "-f", "qcow2", "-F", base_format, "-b", str(base.resolve()), str(path)]
    run([*program("qemu-img"), *create])
    return path


def uefi_firmware() -> tuple[Path, Path]:
    """OVMF: its code, at the path where QEMU sees it, and the template of its variables, where we do.

    Skips where it is not installed.
    """
    outside = Path("/")
    if "MILLRACE_QEMU" not in os.environ:
        outside = Path(run([str(_WRAPPER), "--root"]).strip())
    template = outside / _OVMF / "OVMF_VARS_4M.fd"
    if not template.exists():
        pytest.skip(f"no UEFI firmware at {template} (Debian package ovmf)")
    return Path("/") / _OVMF / "OVMF_CODE_4M.fd", template
