"""GRUB's environment block: 1,024 bytes that GRUB itself can write before any file system driver runs.

GRUB overwrites the blocks of the file in place, so the file must never move or change its length: it is
written in place, in one write.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from appliance.upgrade.errors import UpgradeRefused

SIZE_BYTES = 1024
SIGNATURE = b"# GRUB Environment Block\n"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VALUE = re.compile(r"[A-Za-z0-9._-]*")


def parse(block: bytes) -> dict[str, str]:
    """The variables in a block. Raises UpgradeRefused when it is not one."""
    if len(block) != SIZE_BYTES or not block.startswith(SIGNATURE):
        raise UpgradeRefused(f"GRUB's environment block is damaged: {len(block)} bytes, or no signature")
    lines = block[len(SIGNATURE) :].decode("ascii", "replace").splitlines()
    pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith("#"))
    return {name: value for name, _, value in pairs}


def render(variables: Mapping[str, str]) -> bytes:
    """The block with these variables. Raises ValueError for what needs quoting, or is too much."""
    for name, value in variables.items():
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise ValueError(f"{name}={value!r} does not fit into GRUB's environment block")
    block = SIGNATURE + "".join(f"{name}={value}\n" for name, value in variables.items()).encode("ascii")
    if len(block) > SIZE_BYTES:
        raise ValueError(f"{len(block)} bytes are more than GRUB's environment block holds")
    return block + b"#" * (SIZE_BYTES - len(block))


def read(path: Path) -> dict[str, str]:
    """The variables. Raises UpgradeRefused when the block is missing or damaged."""
    try:
        return parse(path.read_bytes())
    except OSError as error:
        raise UpgradeRefused(f"GRUB's environment block cannot be read: {error}") from None


def change(path: Path, **changes: str) -> None:
    """Set variables, in place and durably; the others stay. Raises UpgradeRefused, OSError."""
    block = render({**read(path), **changes})
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.pwrite(descriptor, block, 0)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
