"""ext4 images made from a folder, without mounting anything, the same bytes every time."""

import uuid
from pathlib import Path

from packer.image.command import run_in

# Every identifier of the disk is derived from this one: the same commit gives the same disk.
NAMESPACE = uuid.UUID("6d1b1f0c-6c1e-4c2a-9d1c-2f0f5a3f8e51")


def derived_uuid(name: str) -> uuid.UUID:
    """The constant UUID of the disk's part `name`."""
    return uuid.uuid5(NAMESPACE, name)


def make_ext4(
    tools: Path,
    image: Path,
    *,
    label: str,
    size_bytes: int,
    source_date_epoch_s: int,
    archive: Path | None = None,
    journal_mib: int = 0,
) -> None:
    """Write an ext4 file system of `size_bytes` to `image`, with the content of the tar file `archive`, if
    any.

    A tar file, because a folder is read in the order in which its own file system lists it. Without
    `journal_mib` there is no journal; a read-only slot needs none. Raises CommandFailed, also when the
    content does not fit.
    """
    image.parent.mkdir(parents=True, exist_ok=True)
    image.unlink(missing_ok=True)
    with image.open("wb") as file:
        file.truncate(size_bytes)
    binds = {image.parent: "/mnt/image"}
    argv: list[str | Path] = ["mkfs.ext4", "-q", "-F", "-m", "0", "-L", label]
    argv += [
        "-U",
        str(derived_uuid(label)),
        "-E",
        f"hash_seed={derived_uuid(label + ' hash')},lazy_itable_init=1",
    ]
    argv += ["-J", f"size={journal_mib}"] if journal_mib else ["-O", "^has_journal"]
    if archive is not None:
        binds[archive] = "/mnt/archive.tar"
        argv += ["-d", "/mnt/archive.tar"]
    run_in(
        tools,
        [*argv, f"/mnt/image/{image.name}"],
        binds=binds,
        environment={
            "SOURCE_DATE_EPOCH": str(source_date_epoch_s),
            "E2FSPROGS_FAKE_TIME": str(source_date_epoch_s),
        },
    )


def make_fat(
    tools: Path, image: Path, *, label: str, size_bytes: int, source_date_epoch_s: int, tree: Path
) -> None:
    """Write a FAT32 file system of `size_bytes` to `image`, holding `tree`.

    With sectors of 512 bytes and clusters of one sector: firmware may read neither the sectors of 4,096 bytes
    that systemd-repart makes, nor a FAT32 of fewer than 65,525 clusters. Raises CommandFailed.
    """
    image.unlink(missing_ok=True)
    with image.open("wb") as file:
        file.truncate(size_bytes)
    binds = {image.parent: "/mnt/image", tree: "/mnt/tree"}
    epoch = {"SOURCE_DATE_EPOCH": str(source_date_epoch_s), "TZ": "UTC"}
    place = f"/mnt/image/{image.name}"
    number = f"{derived_uuid(label).fields[0]:08x}"
    shape = ["-F", "32", "-S", "512", "-s", "1", "--invariant", "-i", number, "-n", label]
    run_in(tools, ["mkfs.vfat", *shape, place], binds=binds, environment=epoch)
    names = [f"/mnt/tree/{path.name}" for path in sorted(tree.iterdir())]
    run_in(
        tools, ["mcopy", "-s", "-p", "-Q", "-m", "-i", place, *names, "::"], binds=binds, environment=epoch
    )
