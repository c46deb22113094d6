"""The partition table and the sparse copy."""

import os
from pathlib import Path

import pytest

from packer.image.bootloader import BootLoader
from packer.image.disk import DISK_BYTES, ESP_BYTES, LAYOUT, SLOT_BYTES, copy_sparse, first_sectors, make_disk
from packer.image.errors import DoesNotFit


def test_both_slots_are_the_same_and_data_takes_the_rest() -> None:
    """An upgrade writes one slot's image into the other; GRUB counts on the order."""
    assert [part.name for part in LAYOUT] == ["mr-bios", "mr-esp", "mr-root-a", "mr-root-b", "mr-data"]
    sizes = {part.name: part.size_bytes for part in LAYOUT}
    assert sizes["mr-root-a"] == sizes["mr-root-b"] == SLOT_BYTES
    assert sizes["mr-data"] is None
    assert 2 * SLOT_BYTES + ESP_BYTES < DISK_BYTES


def test_definitions_have_constant_identifiers() -> None:
    """The same commit gives the same disk: nothing is drawn at random."""
    first = [part.definition() for part in LAYOUT]
    assert first == [part.definition() for part in LAYOUT]
    assert len({line for text in first for line in text.splitlines() if line.startswith("UUID=")}) == len(
        LAYOUT
    )
    assert f"SizeMinBytes={SLOT_BYTES}\nSizeMaxBytes={SLOT_BYTES}" in first[2]
    assert "Size" not in first[4]


def test_sectors_are_found_by_the_partitions_name() -> None:
    """As sfdisk prints them."""
    table = (
        '{"partitiontable": {"partitions": [{"name": "mr-bios", "start": 2048}, {"name": "x", "start": 9}]}}'
    )
    assert first_sectors(table) == {"mr-bios": 2048, "x": 9}


@pytest.mark.parametrize("tail", [b"", b"the end"])
def test_a_sparse_copy_has_the_content_and_the_holes(tmp_path: Path, tail: bytes) -> None:
    """3 MiB of hole between two extents, at an offset in the target."""
    source, target = tmp_path / "source", tmp_path / "target"
    with source.open("wb") as file:
        file.write(b"the beginning")
        file.truncate(3 * 1024 * 1024)
        file.seek(0, os.SEEK_END)
        file.write(tail)
        file.truncate(4 * 1024 * 1024)
    target.write_bytes(b"\0" * 4096)
    with target.open("r+b") as file:
        file.truncate(8 * 1024 * 1024)
    copy_sparse(source, target, 4096)
    with target.open("rb") as file:
        file.seek(4096)
        assert file.read(4 * 1024 * 1024) == source.read_bytes()
    assert target.stat().st_size == 8 * 1024 * 1024
    assert target.stat().st_blocks * 512 < 3 * 1024 * 1024


def test_a_root_larger_than_a_slot_is_refused(tmp_path: Path) -> None:
    """Before anything is written."""
    root = tmp_path / "root.ext4"
    with root.open("wb") as file:
        file.truncate(SLOT_BYTES + 1)
    loader = BootLoader(b"", b"", tmp_path / "none.efi")
    with pytest.raises(DoesNotFit, match="a slot has"):
        make_disk(tmp_path, root, tmp_path / "disk.raw", loader, work=tmp_path / "w", source_date_epoch_s=0)
    assert not (tmp_path / "disk.raw").exists()
