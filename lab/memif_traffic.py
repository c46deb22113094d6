"""Packets as fast as one CPU can send them, through a router from one end to the other and back, counted.

::

    with MemifTraffic(directory, ("memif:/run/vpp/memif/left.sock:0", "memif:/run/vpp/memif/right.sock:0"),
                      cpu=0) as traffic:
        traffic.stream(0, Stream("v4", to_mac, "16.0.0.0", 1, "48.0.0.0", 1, 1))
        traffic.learn(1)
        trial = traffic.trial(1e6, 2)

The packets are made by `memif_traffic.c`, which a C compiler builds once into the directory.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from appliance.bench.generator import Generator, Stream, Trial
from lab.command import run
from lab.errors import MissingProgram

__all__ = ["MemifTraffic", "Stream", "Trial", "build"]

_SOURCES = tuple(
    Path(__file__).with_name(name) for name in ("memif_traffic.c", "memif_link.h", "packet_stream.h")
)
_NICE = -19
LOG2_RING = 12
"""The size of a ring in packets, as a power of two: the largest that is still fast. The limit is 14."""


def build(directory: Path, log2_ring: int = LOG2_RING) -> Path:
    """The path of the compiled tool; it is built into `directory` unless one built from these sources is
    there.
    """
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in _SOURCES)).hexdigest()[:12]
    tool = directory / f"memif-traffic-{digest}-{log2_ring}"
    if tool.exists():
        return tool
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise MissingProgram(
            "a C compiler is needed to build lab/memif_traffic.c (Debian packages gcc and libc6-dev)"
        )
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        made = Path(scratch) / "memif-traffic"
        run([compiler, "-O3", "-Wall", f"-DLOG2_RING={log2_ring}", "-o", str(made), str(_SOURCES[0])])
        made.replace(tool)
    return tool


class MemifTraffic(Generator):
    """The program at both ends of a router, on one CPU and with precedence. Leaving ends it."""

    def __init__(
        self,
        directory: Path,
        ends: Sequence[str],
        *,
        cpu: int,
        namespace: str | None = None,
        log2_ring: int = LOG2_RING,
    ) -> None:
        inside = ["ip", "netns", "exec", namespace] if namespace else []
        tool = build(directory, log2_ring)
        super().__init__(["taskset", "-c", str(cpu), "nice", "-n", str(_NICE), *inside, str(tool), *ends])
