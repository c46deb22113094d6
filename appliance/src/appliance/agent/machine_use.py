"""How busy and how full the machine is: read from the kernel, never from a daemon that may hang."""

from __future__ import annotations

import os
import platform
import socket
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import appliance
from appliance.state.system import (
    CpuState,
    FileSystemState,
    KeptState,
    ProcessorState,
    RamState,
    SystemState,
)

_OLDEST_S = 15.0
"""Shares are taken over no longer than this, so that they say how it is now."""
_SHORTEST_S = 0.25
"""Two readings closer than this say little: the kernel counts in hundredths of a second."""
_VERSIONS_S = 60.0
_PATIENCE_S = 0.5
"""How long the answer waits for versions that nobody told yet."""
_MODES = ("user", "system", "interrupts", "io_wait", "steal", "idle")
Seconds = Mapping[int, Mapping[str, float]]
"""Seconds since boot by processor and mode."""


@dataclass(frozen=True)
class _Reading:
    at: float
    cpus: Seconds


class Processors:
    """Shares of processor time between two readings of /proc/stat. Safe to use from any thread."""

    def __init__(
        self,
        proc: Path = Path("/proc"),
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._proc, self._clock, self._sleep = proc, clock, sleep
        self._lock = threading.Lock()
        self._last: _Reading | None = None
        self._state: ProcessorState | None = None

    def state(self) -> ProcessorState:
        """Shares since the last reading; after a long pause those of the next quarter of a second.

        A second caller within that time gets the existing answer: no caller waits behind another.
        """
        with self._lock:
            before, now = self._last, self._read()
            if before is not None and self._state is not None and now.at - before.at < _SHORTEST_S:
                return self._state
            if before is None or now.at - before.at > _OLDEST_S:
                before = now
                self._sleep(_SHORTEST_S)
                now = self._read()
            self._last, self._state = now, self._shares(before, now)
            return self._state

    def _shares(self, before: _Reading, now: _Reading) -> ProcessorState:
        cpus = tuple(
            _cpu(number, before.cpus[number], seconds)
            for number, seconds in now.cpus.items()
            if number in before.cpus
        )
        load = (self._proc / "loadavg").read_text().split()
        return ProcessorState(
            busy=sum(cpu.busy for cpu in cpus) / len(cpus) if cpus else 0.0,
            over_s=now.at - before.at,
            cpus=cpus,
            load_1m=float(load[0]),
            load_5m=float(load[1]),
            load_15m=float(load[2]),
        )

    def _read(self) -> _Reading:
        return _Reading(self._clock(), parse_stat((self._proc / "stat").read_text()))


def parse_stat(text: str) -> dict[int, dict[str, float]]:
    """Seconds by processor and mode, from the text of /proc/stat."""
    ticks = os.sysconf("SC_CLK_TCK")
    found = {}
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        if not name.startswith("cpu") or not name[3:].isdecimal():
            continue
        # Guests' time is in user and nice already.
        user, nice, system, idle, wait, irq, softirq, steal = (float(word) for word in rest.split()[:8])
        spent = (user + nice, system, irq + softirq, wait, steal, idle)
        found[int(name[3:])] = {mode: value / ticks for mode, value in zip(_MODES, spent, strict=True)}
    return found


def _cpu(number: int, before: Mapping[str, float], now: Mapping[str, float]) -> CpuState:
    # io_wait and idle may decrease a little (proc_stat(5)).
    spent = {mode: max(0.0, now[mode] - before[mode]) for mode in _MODES}
    total = sum(spent.values())
    share = {mode: value / total if total else 0.0 for mode, value in spent.items()}
    idle = share.pop("idle")
    return CpuState(
        cpu=number,
        busy=1.0 - idle - share["io_wait"] if total else 0.0,
        seconds={mode: round(value, 2) for mode, value in now.items()},
        **share,
    )


def parse_meminfo(text: str) -> RamState:
    """From the text of /proc/meminfo. Raises KeyError for one that lacks what every kernel has."""
    values = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        values[name] = int(words[0]) * (1024 if words[1:] == ["kB"] else 1)
    total, available = values["MemTotal"], values["MemAvailable"]
    return RamState(
        total_bytes=total,
        available_bytes=available,
        used_bytes=total - available,
        swap_total_bytes=values.get("SwapTotal", 0),
        swap_used_bytes=values.get("SwapTotal", 0) - values.get("SwapFree", 0),
        huge_page_bytes=values.get("Hugepagesize", 0),
        huge_pages_total=values.get("HugePages_Total", 0),
        huge_pages_free=values.get("HugePages_Free", 0),
    )


def file_systems(places: Mapping[str, Path]) -> tuple[FileSystemState, ...]:
    """The file systems that hold these places, each once; a missing place is left out."""
    found: dict[int, tuple[Path, list[str]]] = {}
    for what, place in places.items():
        with suppress(OSError):
            device = place.stat().st_dev
            found.setdefault(device, (_mount_of(place.resolve(), device), []))[1].append(what)
    return tuple(_file_system(mount, holds) for mount, holds in found.values())


def _mount_of(place: Path, device: int) -> Path:
    while place != place.parent and place.parent.stat().st_dev == device and not place.is_mount():
        place = place.parent
    return place


def _file_system(mount: Path, holds: list[str]) -> FileSystemState:
    seen = os.statvfs(mount)
    return FileSystemState(
        mount=str(mount),
        holds=tuple(holds),
        total_bytes=seen.f_blocks * seen.f_frsize,
        used_bytes=(seen.f_blocks - seen.f_bfree) * seen.f_frsize,
        available_bytes=seen.f_bavail * seen.f_frsize,
        inodes_total=seen.f_files,
        inodes_free=seen.f_ffree,
    )


def _started_s(stat: str) -> float:
    """When a process was started, in seconds after the machine (proc_pid_stat(5), field 22)."""
    # The second field is the program's name, which may contain spaces and brackets.
    return int(stat.rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


class Versions:
    """Versions as programs report them, read once a minute; a program that hangs delays nobody."""

    def __init__(self, ask: Mapping[str, Callable[[], str]]) -> None:
        self._ask = ask
        self._pool = ThreadPoolExecutor(max(1, len(ask)), thread_name_prefix="version")
        self._known: dict[str, str] = {}
        self._asked: dict[str, tuple[float, Future[str]]] = {}
        self._lock = threading.Lock()

    def known(self) -> dict[str, str]:
        """Each program's last answer; one that never answered is left out."""
        with self._lock:
            now = time.monotonic()
            patience_s = 0.0 if self._asked else _PATIENCE_S
            for name, ask in self._ask.items():
                at, asked = self._asked.get(name, (0.0, None))
                if asked is None or (asked.done() and now - at > _VERSIONS_S):
                    self._asked[name] = now, self._pool.submit(ask)
            for name, (_, asked) in self._asked.items():
                # One that fails or is slow leaves the known answer as it is.
                with suppress(Exception):
                    if said := asked.result(max(0.0, now + patience_s - time.monotonic())):
                        self._known[name] = said
            return dict(self._known)

    def close(self) -> None:
        """Let go of threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class MachineUse:
    """The machine as it is now. Safe to use from any thread."""

    def __init__(
        self,
        places: Mapping[str, Path],
        kept: Callable[[], Mapping[str, Mapping[str, int]]],
        ask: Mapping[str, Callable[[], str]],
        proc: Path = Path("/proc"),
    ) -> None:
        self._places, self._kept, self._proc = places, kept, proc
        self._versions = Versions(ask)
        self._processors = Processors(proc)
        self._started_s = _started_s(Path("/proc/self/stat").read_text())

    def state(self) -> SystemState:
        """Everything."""
        uptime_s = float((self._proc / "uptime").read_text().split()[0])
        return SystemState(
            hostname=socket.gethostname(),
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            uptime_s=uptime_s,
            agent_uptime_s=max(0.0, uptime_s - self._started_s),
            processor=self._processors.state(),
            memory=parse_meminfo((self._proc / "meminfo").read_text()),
            file_systems=file_systems(self._places),
            kept=tuple(
                KeptState(kind=kind, used_bytes=use["used_bytes"], quota_bytes=use["quota_bytes"])
                for kind, use in self._kept().items()
            ),
            versions={
                "millrace": appliance.__version__,
                "python": platform.python_version(),
                "kernel": os.uname().release,
                "os": _os_name(),
                **self._versions.known(),
            },
        )

    def close(self) -> None:
        """Let go of threads."""
        self._versions.close()
