"""GRUB for BIOS and UEFI, without a loop device: grub-mkimage makes the images, and this module places
them.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

from packer.image.command import run_in
from packer.image.errors import DoesNotFit

SECTOR_BYTES = 512
BIOS_BOOT_BYTES = 1024 * 1024
ENVIRONMENT_BYTES = 1024
# The second partition of the disk from which GRUB was started: GRUB fills in the empty disk name.
_PREFIX = "(,gpt2)/grub"

# All modules are in the image: only grub.cfg and grubenv are loaded from the ESP.
_MODULES = (
    *("all_video", "boot", "cat", "configfile", "echo", "ext2", "fat", "gzio", "halt", "linux", "loadenv"),
    *("ls", "normal", "part_gpt", "reboot", "regexp", "search", "search_fs_file", "search_label"),
    *("serial", "sleep", "terminal", "test", "true"),
)

# Offsets in GRUB's boot.img and in the first sector of its core image (include/grub/i386/pc/boot.h).
_KERNEL_SECTOR_OFFSET = 0x5C
_DRIVE_CHECK_OFFSET = 0x66
_BLOCKLIST_OFFSET = SECTOR_BYTES - 12
_MBR_CODE_BYTES = 440


@dataclass(frozen=True)
class BootLoader:
    """GRUB's images: the BIOS boot sector and core, and the UEFI program."""

    boot_sector: bytes
    core: bytes
    efi: Path


def make_boot_loader(tools: Path, work: Path) -> BootLoader:
    """Make the images with the tools chroot's GRUB; `work` is a folder for them.

    Raises DoesNotFit when the BIOS core is larger than its partition.
    """
    work.mkdir(parents=True, exist_ok=True)
    binds = {work: "/mnt/grub"}
    common = ["grub-mkimage", "-p", _PREFIX]
    run_in(tools, [*common, "-O", "i386-pc", "-o", "/mnt/grub/core.img", "biosdisk", *_MODULES], binds=binds)
    run_in(
        tools,
        [*common, "-O", "x86_64-efi", "-o", "/mnt/grub/BOOTX64.EFI", "efi_gop", *_MODULES],
        binds=binds,
    )
    core = (work / "core.img").read_bytes()
    if len(core) > BIOS_BOOT_BYTES:
        raise DoesNotFit(f"GRUB's BIOS core has {len(core)} bytes; its partition has {BIOS_BOOT_BYTES}")
    boot_sector = (tools / "usr/lib/grub/i386-pc/boot.img").read_bytes()
    return BootLoader(boot_sector, core, work / "BOOTX64.EFI")


def placed_core(core: bytes, first_sector: int) -> bytes:
    """`core` with its position `first_sector` on the disk filled in: its first sector loads the rest from
    there.
    """
    placed = bytearray(core)
    struct.pack_into("<Q", placed, _BLOCKLIST_OFFSET, first_sector + 1)
    return bytes(placed)


def boot_code(boot_sector: bytes, core_sector: int) -> bytes:
    """The code bytes of the master boot record, loading the core from `core_sector`.

    The check of the boot drive's number is disabled, as grub-install does on a hard disk, because some BIOSes
    pass a wrong one.
    """
    code = bytearray(boot_sector[:_MBR_CODE_BYTES])
    struct.pack_into("<Q", code, _KERNEL_SECTOR_OFFSET, core_sector)
    code[_DRIVE_CHECK_OFFSET : _DRIVE_CHECK_OFFSET + 2] = b"\x90\x90"
    return bytes(code)


def environment_block(variables: dict[str, str]) -> bytes:
    """A grubenv file: 1,024 bytes, one `name=value` a line, padded with `#`.

    GRUB writes it in place and never makes it longer. Raises DoesNotFit.
    """
    lines = "".join(f"{name}={value}\n" for name, value in variables.items())
    block = ("# GRUB Environment Block\n" + lines).encode("ascii")
    if len(block) > ENVIRONMENT_BYTES:
        raise DoesNotFit(f"GRUB's environment has {len(block)} bytes; {ENVIRONMENT_BYTES} fit")
    return block.ljust(ENVIRONMENT_BYTES, b"#")
