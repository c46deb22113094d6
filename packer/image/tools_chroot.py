"""The tools chroot: Debian 13's disk tools, boot loader and QEMU, whatever the builder's own release is.

Debian 12's e2fsprogs and systemd-repart do not build the same disk twice, and its QEMU 7.2 crashes Debian
13's kernel under software emulation.
"""

import hashlib
from pathlib import Path

from packer.image.bootstrap import bootstrap
from packer.image.builder_apt import AptSources
from packer.image.progress import say, step
from packer.image.removal import remove_tree

PACKAGES = (
    "dosfstools",
    "e2fsprogs",
    "fdisk",
    "grub-common",
    "grub-efi-amd64-bin",
    "grub-pc-bin",
    "ipxe-qemu",
    "libarchive13t64",  # mkfs.ext4 reads tar files with it
    "libxml2-utils",
    "mtools",
    "ovmf",
    "qemu-system-x86",
    "qemu-utils",
    "seabios",
    "systemd-repart",
    "xorriso",
    "xz-utils",
    "zstd",
)


def _digest(sources: AptSources) -> str:
    return hashlib.sha256(repr((PACKAGES, sources.lines)).encode()).hexdigest()


def make_tools(root: Path, sources: AptSources, work: Path) -> None:
    """Make the chroot at `root`, unless it already exists with these packages. Raises SourceUnavailable."""
    stamp = root.with_suffix(".stamp")
    digest = _digest(sources)
    if root.is_dir() and stamp.exists() and stamp.read_text() == digest:
        say(f"tools chroot: {root} is up to date")
        return
    with step("tools chroot (Debian 13: disk tools, GRUB, QEMU)"):
        stamp.unlink(missing_ok=True)
        made = root.with_suffix(".new")
        remove_tree(made)
        made.parent.mkdir(parents=True, exist_ok=True)
        hooks = ["--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*"]
        bootstrap(made, PACKAGES, sources, options=hooks, work=work)
        remove_tree(root)
        made.rename(root)
        stamp.write_text(digest)
