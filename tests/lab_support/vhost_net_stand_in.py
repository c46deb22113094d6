"""Building the stand-in for ``/dev/vhost-net``, for machines whose kernel has none.

VPP's tap interfaces, and so linux-cp's mirrors, need that device. Where it is missing, the lab and the test
harness preload the library built here into the VPP process, and say so. It is never part of the image.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

DEVICE = Path("/dev/vhost-net")
_HERE = Path(__file__).resolve().parent
SOURCES = (_HERE / "vhost_net_stand_in.c", _HERE / "vhost_net_packets.c")
_HEADER = _HERE / "vhost_net_packets.h"

NOTICE = (
    "This kernel has no /dev/vhost-net: VPP runs with a stand-in preloaded "
    "(tests/lab_support/vhost_net_stand_in.c). It proves function, never speed."
)


def needed() -> bool:
    """Whether VPP's tap interfaces cannot work on this machine without the stand-in."""
    return not DEVICE.exists()


def build(directory: Path) -> Path:
    """Compile the stand-in into ``directory`` (made if missing); returns what to set as ``LD_PRELOAD``.

    An up-to-date library is left as it is. Raises ``subprocess.CalledProcessError`` with the compiler's words
    in ``stderr``, ``FileNotFoundError`` without gcc.
    """
    directory.mkdir(parents=True, exist_ok=True)
    library = directory / "vhost_net_stand_in.so"
    newest = max(path.stat().st_mtime for path in (*SOURCES, _HEADER, Path(__file__)))
    if library.exists() and library.stat().st_mtime >= newest:
        return library
    unfinished = library.with_suffix(f".{os.getpid()}")  # others may build at the same time
    subprocess.run(
        ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread",
         "-fvisibility=hidden",
         "-o", str(unfinished), *map(str, SOURCES), "-ldl"],
        check=True,
        capture_output=True,
        text=True,
    )  # fmt: skip
    unfinished.replace(library)
    return library
