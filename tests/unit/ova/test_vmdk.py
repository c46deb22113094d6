"""streamOptimized VMDK: a written disk is read back, the same each time, and damage is detected."""

import io
import zlib
from pathlib import Path
from random import Random

import pytest

from ova import vmdk, vmdk_read
from ova.errors import OvaError

GRAIN = vmdk.GRAIN_BYTES


def _disk(path: Path, size: int, parts: dict[int, bytes]) -> bytes:
    with path.open("wb") as stream:
        stream.truncate(size)
        for offset, data in parts.items():
            stream.seek(offset)
            stream.write(data)
    return path.read_bytes()


def _read_back(path: Path) -> bytes:
    with path.open("rb") as stream:
        size = vmdk_read.read_header(stream).capacity * vmdk.SECTOR_BYTES
        stream.seek(0)
        content = bytearray(-(-size // GRAIN) * GRAIN)
        for lba, grain in vmdk_read.grains(stream):
            content[lba * 512 : lba * 512 + len(grain)] = grain
    return bytes(content[:size])


@pytest.mark.parametrize(
    "size,parts",
    [
        (GRAIN, {}),
        (GRAIN, {0: b"x"}),
        (40 * 1024 * 1024, {0: b"boot", 33 * 1024 * 1024 + 7: b"second table"}),
        (3 * GRAIN + 512, {3 * GRAIN: b"the last grain is short"}),
        (100 * 1024 * 1024, {64 * 1024 * 1024 - 5: b"over a table's edge"}),
        (2 * GRAIN, {0: Random(7).randbytes(2 * GRAIN)}),
    ],
)
def test_round_trip(tmp_path: Path, size: int, parts: dict[int, bytes]) -> None:
    content = _disk(tmp_path / "raw", size, parts)
    written = vmdk.write(tmp_path / "raw", tmp_path / "disk.vmdk")
    assert _read_back(tmp_path / "disk.vmdk") == content
    assert written.capacity_bytes == size
    assert written.size_bytes == (tmp_path / "disk.vmdk").stat().st_size
    assert written.populated_bytes <= size + GRAIN


def test_zeros_and_holes_take_no_grain(tmp_path: Path) -> None:
    _disk(tmp_path / "raw", 8 * GRAIN, {2 * GRAIN: bytes(GRAIN), 5 * GRAIN: b"x"})
    vmdk.write(tmp_path / "raw", tmp_path / "disk.vmdk")
    with (tmp_path / "disk.vmdk").open("rb") as stream:
        assert [lba for lba, _ in vmdk_read.grains(stream)] == [5 * vmdk.GRAIN_SECTORS]


def test_same_disk_same_bytes(tmp_path: Path) -> None:
    _disk(tmp_path / "raw", 64 * GRAIN, {GRAIN * number: b"%d" % number for number in range(64)})
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        vmdk.write(tmp_path / "raw", tmp_path / name / "disk.vmdk")
    assert (tmp_path / "a/disk.vmdk").read_bytes() == (tmp_path / "b/disk.vmdk").read_bytes()


def test_content_id_follows_content(tmp_path: Path) -> None:
    found = []
    for content in (b"one", b"two"):
        _disk(tmp_path / "raw", GRAIN, {0: content})
        vmdk.write(tmp_path / "raw", tmp_path / "disk.vmdk")
        with (tmp_path / "disk.vmdk").open("rb") as stream:
            found.append(vmdk_read.read_descriptor(stream, vmdk_read.read_header(stream)))
    assert found[0]["CID"] != found[1]["CID"]
    assert {settings["createType"] for settings in found} == {"streamOptimized"}
    assert {settings["parentCID"] for settings in found} == {"ffffffff"}


def test_header_is_what_vmware_says() -> None:
    """Offsets of Virtual Disk Format 5.0's SparseExtentHeader."""
    header = vmdk.header(capacity_sectors=0x1122, directory_sector=0x33)
    assert len(header) == 512
    assert header[:4] == b"KDMV"
    assert header[4:8] == (3).to_bytes(4, "little")
    assert header[8:12] == (0x30001).to_bytes(4, "little")
    assert header[12:20] == (0x1122).to_bytes(8, "little")
    assert header[20:28] == (128).to_bytes(8, "little")
    assert header[56:64] == (0x33).to_bytes(8, "little")
    assert header[73:77] == b"\n \r\n"
    assert header[77:79] == (1).to_bytes(2, "little")


def test_a_part_of_a_sector_is_refused(tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(b"x" * 700)
    with pytest.raises(OvaError, match="700 bytes are no whole number"):
        vmdk.write(tmp_path / "raw", tmp_path / "disk.vmdk")


@pytest.fixture
def good(tmp_path: Path) -> bytes:
    _disk(tmp_path / "raw", 4 * GRAIN, {0: Random(1).randbytes(3 * GRAIN)})
    vmdk.write(tmp_path / "raw", tmp_path / "disk.vmdk")
    return (tmp_path / "disk.vmdk").read_bytes()


def _all(data: bytes) -> None:
    for _ in vmdk_read.grains(io.BytesIO(data)):
        pass


@pytest.mark.parametrize(
    "damage,said",
    [
        (lambda data: b"COWD" + data[4:], "KDMV"),
        (lambda data: data[:73] + b"\n \n\n" + data[77:], "line ends"),
        (lambda data: data[:8] + bytes(4) + data[12:], "not streamOptimized"),
        (lambda data: data[:12] + bytes(8) + data[20:], "capacity"),
        (lambda data: data[:20] + (5).to_bytes(8, "little") + data[28:], "grainSize"),
        (lambda data: data[:-512], "too early"),
        (lambda data: data[: len(data) // 2], "too early"),
        (lambda data: data + b"tail", "follows its end"),
        (lambda data: data[: 128 * 512 + 12] + b"\xff" * 200 + data[128 * 512 + 212 :], "does not inflate"),
        (lambda data: data[: 128 * 512] + (128).to_bytes(8, "little") + data[128 * 512 + 8 :], "twice"),
        (lambda data: data[:-1024] + vmdk.header(4 * 128, 77) + data[-512:], "directory is at sector 77"),
    ],
)
def test_damage_is_named(good: bytes, damage: object, said: str) -> None:
    assert callable(damage)
    with pytest.raises(OvaError, match=said):
        _all(damage(good))


def test_a_grain_that_would_fill_memory_is_refused(tmp_path: Path) -> None:
    """A bomb: few bytes that inflate to far more than a grain."""
    bomb = zlib.compress(bytes(64 * 1024 * 1024), 9)
    data = vmdk.header(GRAIN // 512, vmdk.GD_AT_END) + bytes(127 * 512)
    data += vmdk.GRAIN_MARKER.pack(0, len(bomb)) + bomb + bytes(4096)
    with pytest.raises(OvaError, match="grain 0 has 65537 bytes"):
        _all(data)
