"""Packets as fast as one CPU can send them, through a router from one end to the other and back, counted.

::

    with Generator((program, left, right)) as traffic:
        traffic.stream(0, Stream("v4", to_mac, "16.0.0.0", 1, "48.0.0.0", 1, 1))
        traffic.learn(1)
        trial = traffic.trial(1e6, 2)

The ends are written as the program, `lab/memif_traffic.c`, reads them. It ends with the process that started
it.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Self

from appliance.errors import RouterUnavailable


class GeneratorFailed(RouterUnavailable):
    """The packet generator does not run, or did not understand; the message says why."""


@dataclass(frozen=True)
class Stream:
    """UDP packets of flows. Sizes are those of the frame with its check sequence, in bytes, taken in
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
            self.family, mac_of(side), self.to_mac, self.source, self.sources, self.destination,
            self.destinations, self.flows, self.source_port, self.destination_port,
            ",".join(map(str, self.sizes_bytes)),
        )  # fmt: skip
        return " ".join(map(str, fields))


def mac_of(side: int) -> str:
    """The MAC address that the program sends from, and answers ARP with, at an end."""
    return f"02:77:00:00:00:0{side}"


@dataclass(frozen=True)
class Trial:
    """The fate of the packets of both directions.

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


class Generator:
    """The program at both ends of a router. Leaving ends it. Every method may raise GeneratorFailed.

    It may run on the CPUs in ``cpus`` only; None: on any.
    """

    def __init__(self, argv: Sequence[str], *, cpus: frozenset[int] | None = None) -> None:
        self._argv, self._cpus = list(argv), cpus
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        try:
            self._process = subprocess.Popen(
                self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "LC_ALL": "C"},
            )
            if self._cpus is not None:
                # Before it sends anything: until then it sleeps, waiting for the router.
                os.sched_setaffinity(self._process.pid, self._cpus)
            self._answer("start")
        except OSError as error:
            self._end()
            raise GeneratorFailed(f"the packet generator does not start: {error}") from error
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    @property
    def pid(self) -> int | None:
        """The process id of the program; None while it does not run."""
        return None if self._process is None else self._process.pid

    def kill(self) -> None:
        """End the program now; a thread waiting for its answer gets GeneratorFailed. From any thread."""
        process = self._process
        if process is not None:
            process.kill()

    def stream(self, side: int, stream: Stream) -> None:
        """What the end sends from now on."""
        self._ask(f"stream {side} {stream.words(side)}")

    def quiet(self, side: int) -> None:
        """The end sends nothing."""
        self._ask(f"quiet {side}")

    def learn(self, seconds: float) -> Trial:
        """Some packets at 1,000 a second, while ARP requests and neighbor solicitations are answered."""
        return _trial(self._ask(f"learn {seconds}"))

    def trial(self, pps: float, seconds: float) -> Trial:
        """Packets at this rate, of both directions together, before all else on its CPU."""
        return _trial(self._ask(f"trial {pps} {seconds}"))

    def poll(self, pps: float, seconds: float) -> Trial:
        """The same without that precedence."""
        return _trial(self._ask(f"poll {pps} {seconds}"))

    def steady(self, pps: float, seconds: float) -> Trial:
        """The same with a pause after each burst, sharing this CPU with others."""
        return _trial(self._ask(f"steady {pps} {seconds}"))

    def _ask(self, words: str) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdin is None:
            raise GeneratorFailed("the packet generator does not run")
        try:
            process.stdin.write(f"{words}\n")
            process.stdin.flush()
        except OSError as error:
            raise GeneratorFailed(f"the packet generator ended: {error}") from error
        return self._answer(words)

    def _answer(self, words: str) -> dict[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise GeneratorFailed(f"the packet generator ended: {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        if answer.get("ready") is False:
            raise GeneratorFailed(f"the packet generator refused: {words}")
        return answer

    def _last_words(self) -> str:
        process = self._process
        assert process is not None
        assert process.stderr is not None
        status = process.wait()
        return process.stderr.read().strip()[-500:] or f"exit status {status}"

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


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
