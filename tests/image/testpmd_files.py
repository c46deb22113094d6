"""DPDK's own testpmd, which is not in the image: Debian 13's, fetched on the builder, with what it loads."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from lab.command import run
from packer.image.bootstrap import bootstrap
from packer.image.builder_apt import sources
from packer.image.settings import read_settings

PACKAGES = ("dpdk-dev", "librte-net-vmxnet3-25")
DRIVERS = ("librte_mempool_ring.so.25", "librte_net_vmxnet3.so.25")
PROGRAM = "dpdk-testpmd"
LOADER = "ld-linux-x86-64.so.2"


def fetch(work: Path) -> Path:
    """A folder with the program, its loader and its libraries; made once.

    Raises SourceUnavailable, BadSetting.
    """
    settings = read_settings(os.environ)
    kept = settings.cache / "testpmd"
    if kept.is_dir():
        return kept
    tree, made = work / "dpdk-packages", kept.with_suffix(".new")
    mirrors = sources(settings.debian_mirror, settings.debian_security_mirror)
    bootstrap(tree, PACKAGES, mirrors, variant="extract", work=work / "dpdk-work")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    for path in (tree / "usr" / "bin" / PROGRAM, *_libraries(tree)):
        shutil.copy(path, made / path.name)
    shutil.rmtree(tree)
    made.rename(kept)
    return kept


def _libraries(tree: Path) -> list[Path]:
    """The loader, everything the program is linked to, and the drivers it is told to load."""
    folder = tree / "usr" / "lib" / "x86_64-linux-gnu"
    loader = folder / LOADER
    listed = run([str(loader), "--library-path", str(folder), "--list", str(tree / "usr" / "bin" / PROGRAM)])
    names = [line.split()[0] for line in listed.splitlines() if "=> /" in line and LOADER not in line]
    return [loader, *(folder / name for name in dict.fromkeys((*names, *DRIVERS)))]


def argv(folder: str, *arguments: str) -> list[str]:
    """The command that runs it where `folder` lies, below the guest's own libraries' notice."""
    loaded = [word for driver in DRIVERS for word in ("-d", f"{folder}/{driver}")]
    return [f"{folder}/{LOADER}", "--library-path", folder, f"{folder}/{PROGRAM}", *loaded, *arguments]
