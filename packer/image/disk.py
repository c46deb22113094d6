"""The disk: GPT with BIOS and UEFI boot, two system slots and the data partition."""

import errno
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from packer.image.bootloader import (
    BIOS_BOOT_BYTES,
    SECTOR_BYTES,
    BootLoader,
    boot_code,
    environment_block,
    placed_core,
)
from packer.image.command import run_in
from packer.image.errors import DoesNotFit
from packer.image.file_system import derived_uuid, make_ext4, make_fat
from packer.image.removal import remove_tree

MIB = 1024 * 1024
GIB = 1024 * MIB
DISK_BYTES = 10 * GIB
SLOT_BYTES = 3 * GIB
ESP_BYTES = 128 * MIB
# At the first boot the partition grows to the disk, and the file system to the partition.
DATA_BYTES = 2 * GIB
DATA_JOURNAL_MIB = 64

_BIOS_BOOT_TYPE = "21686148-6449-6e6f-744e-656564454649"
_GRUB_CONFIGURATION = Path(__file__).resolve().parents[1] / "grub" / "grub.cfg"


@dataclass(frozen=True)
class Partition:
    """One partition as systemd-repart's repart.d(5) describes it; with `size_bytes` None it takes the
    rest.
    """

    name: str
    type: str
    size_bytes: int | None

    def definition(self) -> str:
        """The text of its file in repart.d."""
        lines = ["[Partition]", f"Type={self.type}", f"Label={self.name}", f"UUID={derived_uuid(self.name)}"]
        if self.size_bytes is not None:
            lines += [f"SizeMinBytes={self.size_bytes}", f"SizeMaxBytes={self.size_bytes}"]
        return "\n".join(lines) + "\n"


LAYOUT = (
    Partition("mr-bios", _BIOS_BOOT_TYPE, BIOS_BOOT_BYTES),
    Partition("mr-esp", "esp", ESP_BYTES),
    Partition("mr-root-a", "linux-generic", SLOT_BYTES),
    Partition("mr-root-b", "linux-generic", SLOT_BYTES),
    Partition("mr-data", "linux-generic", None),
)


def first_sectors(table: str) -> dict[str, int]:
    """First sector of each partition by name, from `sfdisk --json`."""
    return {part["name"]: part["start"] for part in json.loads(table)["partitiontable"]["partitions"]}


def _write_esp(esp: Path, loader: BootLoader, source_date_epoch_s: int) -> None:
    (esp / "EFI/BOOT").mkdir(parents=True)
    (esp / "grub").mkdir()
    shutil.copyfile(loader.efi, esp / "EFI/BOOT/BOOTX64.EFI")
    shutil.copyfile(_GRUB_CONFIGURATION, esp / "grub/grub.cfg")
    (esp / "grub/grubenv").write_bytes(environment_block({"good": "a", "try": ""}))
    for path in (*esp.rglob("*"), esp):
        os.utime(path, (source_date_epoch_s, source_date_epoch_s))


def _place_bios_loader(disk: Path, loader: BootLoader, first_sector: int) -> None:
    with disk.open("r+b") as file:
        file.write(boot_code(loader.boot_sector, first_sector))
        file.seek(first_sector * SECTOR_BYTES)
        file.write(placed_core(loader.core, first_sector))


def copy_sparse(source: Path, target: Path, offset_bytes: int) -> None:
    """Write `source` into `target` at `offset_bytes`, skipping its holes."""
    with source.open("rb", buffering=0) as reader, target.open("r+b") as writer:
        size, position = os.fstat(reader.fileno()).st_size, 0
        while position < size:
            try:
                position = os.lseek(reader.fileno(), position, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:  # only a hole remains
                    return
                raise
            end = os.lseek(reader.fileno(), position, os.SEEK_HOLE)
            os.lseek(reader.fileno(), position, os.SEEK_SET)
            writer.seek(offset_bytes + position)
            while position < end:
                block = reader.read(min(MIB, end - position))
                if not block or not any(block):
                    writer.seek(len(block), os.SEEK_CUR)
                else:
                    writer.write(block)
                position += len(block) or end - position


def make_disk(
    tools: Path, root_image: Path, disk: Path, loader: BootLoader, *, work: Path, source_date_epoch_s: int
) -> None:
    """Write the raw image `disk` (sparse, 10 GiB) with `root_image` in slot a.

    Raises DoesNotFit when the root image is larger than a slot.
    """
    if root_image.stat().st_size > SLOT_BYTES:
        raise DoesNotFit(f"the root image has {root_image.stat().st_size} bytes; a slot has {SLOT_BYTES}")
    remove_tree(work)
    definitions, esp = work / "repart.d", work / "esp"
    definitions.mkdir(parents=True)
    _write_esp(esp, loader, source_date_epoch_s)
    for number, partition in enumerate(LAYOUT):
        (definitions / f"{number}0-{partition.name}.conf").write_text(partition.definition())
    make_ext4(
        tools,
        work / "data.ext4",
        label="MR-DATA",
        size_bytes=DATA_BYTES,
        source_date_epoch_s=source_date_epoch_s,
        journal_mib=DATA_JOURNAL_MIB,
    )
    make_fat(
        tools,
        work / "esp.fat",
        label="MR-ESP",
        size_bytes=ESP_BYTES,
        source_date_epoch_s=source_date_epoch_s,
        tree=esp,
    )
    disk.unlink(missing_ok=True)
    run_in(
        tools,
        [
            "systemd-repart",
            "--offline=yes",
            "--empty=create",
            f"--size={DISK_BYTES}",
            f"--seed={derived_uuid('disk')}",
            "--dry-run=no",
            "--definitions=/mnt/parts/repart.d",
            f"/mnt/disk/{disk.name}",
        ],
        binds={work: "/mnt/parts", disk.parent: "/mnt/disk"},
        environment={"SOURCE_DATE_EPOCH": str(source_date_epoch_s)},
    )
    table = run_in(tools, ["sfdisk", "--json", f"/mnt/disk/{disk.name}"], binds={disk.parent: "/mnt/disk"})
    starts = first_sectors(table)
    _place_bios_loader(disk, loader, starts["mr-bios"])
    copy_sparse(work / "esp.fat", disk, starts["mr-esp"] * SECTOR_BYTES)
    copy_sparse(root_image, disk, starts["mr-root-a"] * SECTOR_BYTES)
    copy_sparse(work / "data.ext4", disk, starts["mr-data"] * SECTOR_BYTES)
