"""The positions of GRUB's images on the disk: the bytes that encode them."""

import struct

import pytest

from packer.image.bootloader import ENVIRONMENT_BYTES, boot_code, environment_block, placed_core
from packer.image.errors import DoesNotFit


def test_the_boot_sector_loads_the_core_from_its_partition() -> None:
    """The core's sector stands at 0x5c; the partition table is not part of the code."""
    code = boot_code(bytes(512), 2048)
    assert len(code) == 440
    assert struct.unpack_from("<Q", code, 0x5C) == (2048,)
    assert code[0x66:0x68] == b"\x90\x90"


def test_the_core_finds_its_own_second_sector() -> None:
    """Only the first block list entry changes."""
    core = bytes(range(256)) * 8
    placed = placed_core(core, 2048)
    assert struct.unpack_from("<Q", placed, 500) == (2049,)
    assert placed[:500] + placed[508:] == core[:500] + core[508:]


def test_the_environment_is_one_block_that_grub_can_write_in_place() -> None:
    """1,024 bytes, GRUB's header, `#` to the end."""
    block = environment_block({"good": "a", "try": ""})
    assert len(block) == ENVIRONMENT_BYTES
    assert block.startswith(b"# GRUB Environment Block\ngood=a\ntry=\n#")
    assert block.endswith(b"#")


def test_an_environment_too_long_is_refused() -> None:
    """GRUB would cut it off."""
    with pytest.raises(DoesNotFit, match="1024 fit"):
        environment_block({"good": "a" * 1024})
