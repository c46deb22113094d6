"""The disk as a compressed qcow2 file."""

from pathlib import Path

from packer.image.command import run_in


def make_qcow2(tools: Path, disk: Path, target: Path) -> None:
    """Convert the raw `disk` to `target`, compressed with zstd (QEMU 5.1 and newer read it)."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    run_in(
        tools,
        [
            "qemu-img",
            "convert",
            "-q",
            "-c",
            "-O",
            "qcow2",
            "-o",
            "compression_type=zstd",
            f"/mnt/disk/{disk.name}",
            f"/mnt/target/{target.name}",
        ],
        binds={disk.parent: "/mnt/disk", target.parent: "/mnt/target"},
    )
