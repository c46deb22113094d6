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
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from lab.command import run
from lab.errors import LabError, MissingProgram

_SOURCES = tuple(
    Path(__file__).with_name(name) for name in ("memif_traffic.c", "memif_link.h", "packet_stream.h")
)
_NICE = -19


@dataclass(frozen=True)
class Stream:
    """UDP packets of flows. Sizes are those of the Ethernet frame with its check sequence, in bytes, taken in
    turn. Addresses count up from the first one: hosts for IPv4, networks of 64 bits for an IPv6 destination.
    """

    family: Literal["v4", "v6"]
    to_mac: str
    source: str
    sources: int
    destination: str
    destinations: int
    flows: int
    sizes_bytes: tuple[int, ...] = (64,)
    source_port: int = 1024
    destination_port: int = 4789

    def words(self, side: int) -> str:
        """As the program reads it."""
        fields = (
            self.family, f"02:77:00:00:00:0{side}", self.to_mac, self.source, self.sources, self.destination,
            self.destinations, self.flows, self.source_port, self.destination_port,
            ",".join(map(str, self.sizes_bytes)),
        )  # fmt: skip
        return " ".join(map(str, fields))


@dataclass(frozen=True)
class Trial:
    """What became of the packets of both directions.

    `offered` were due; of these `refused` found the router's ring full. `foreign` of `sampled` received ones
    were no packets of the streams. `stalled_s` is how long the sender itself did not run.
    """

    seconds: float
    offered: int
    refused: int
    received: int
    received_bytes: int
    sampled: int
    foreign: int
    stalled_s: float
    longest_stall_s: float

    @property
    def offered_pps(self) -> float:
        """Packets a second that were due, of both directions."""
        return self.offered / self.seconds

    @property
    def received_pps(self) -> float:
        """Packets a second that arrived, of both directions."""
        return self.received / self.seconds

    @property
    def loss(self) -> float:
        """Share of the offered packets that did not arrive."""
        return max(0.0, 1 - self.received / self.offered) if self.offered else 0.0


def build(directory: Path) -> Path:
    """The path of the compiled tool, built into `directory` unless these sources' is there already."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in _SOURCES)).hexdigest()[:12]
    tool = directory / f"memif-traffic-{digest}"
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
        run([compiler, "-O3", "-Wall", "-o", str(made), str(_SOURCES[0])])
        made.replace(tool)
    return tool


class MemifTraffic:
    """The program at both ends of a router, on one CPU. Leaving ends it."""

    def __init__(
        self, directory: Path, ends: Sequence[str], *, cpu: int, namespace: str | None = None
    ) -> None:
        inside = ["ip", "netns", "exec", namespace] if namespace else []
        self._argv = [*inside, str(build(directory)), *ends]
        self._cpu = cpu
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "MemifTraffic":
        self._process = subprocess.Popen(
            ["taskset", "-c", str(self._cpu), "nice", "-n", str(_NICE), *self._argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "LC_ALL": "C"},
        )
        self._answer()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def stream(self, side: int, stream: Stream) -> None:
        """What the end sends from now on. Raises LabError."""
        self._ask(f"stream {side} {stream.words(side)}")

    def quiet(self, side: int) -> None:
        """The end sends nothing."""
        self._ask(f"quiet {side}")

    def learn(self, seconds: float) -> Trial:
        """Some packets at 1,000 a second, while ARP requests and neighbor solicitations are answered."""
        return _trial(self._ask(f"learn {seconds}"))

    def trial(self, pps: float, seconds: float) -> Trial:
        """Packets at this rate, of both directions together."""
        return _trial(self._ask(f"trial {pps} {seconds}"))

    def steady(self, pps: float, seconds: float) -> Trial:
        """The same, in turn with whatever else wants this CPU."""
        return _trial(self._ask(f"steady {pps} {seconds}"))

    def _ask(self, words: str) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(f"{words}\n")
        self._process.stdin.flush()
        return self._answer(words)

    def _answer(self, words: str = "start") -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"ready": False}
        if answer.get("ready") is False:
            raise LabError(f"memif-traffic refused: {words}")
        return answer


def _trial(answer: dict[str, Any]) -> Trial:
    ends = [answer["side0"], answer["side1"]]

    def total(*names: str) -> int:
        return sum(int(end[name]) for end in ends for name in names)

    return Trial(
        answer["seconds"],
        total("sent", "refused", "unsent"),
        total("refused", "unsent"),
        total("received"),
        total("received_bytes"),
        total("sampled"),
        total("foreign"),
        answer["stalled_s"],
        answer["longest_stall_s"],
    )
