"""The lab's programs as processes: which they are, what they hold, and what is left of others."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lab.leftovers import marked_processes, process_alive
from lab.namespaces import NAMESPACE_DIR
from lab.supervision import Supervisor
from tests.live_lab import LiveLab

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Held:
    """What one process holds."""

    pid: int
    rss_bytes: int
    descriptors: int
    threads: int


def programs(live: LiveLab) -> dict[str, int]:
    """Program name to process id, of those that run; and the processes of the web half by their own names."""
    supervisor = Supervisor(live.directory)
    found = {name: pid for name in supervisor.states() if (pid := supervisor.pid(name))}
    return {**children(found.get("web", 0)), **found}


def children(pid: int) -> dict[str, int]:
    """Name to process id, of those that this one forked; names are those that they gave themselves."""
    named = {}
    with suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            named[Path(f"/proc/{child}/comm").read_text().strip()] = int(child)
    return named


def held(pid: int) -> Held | None:
    """What a process holds; None when it is gone."""
    entry = Path(f"/proc/{pid}")
    try:
        pages = int((entry / "statm").read_text().split()[1])
        descriptors, threads = (sum(1 for _ in (entry / name).iterdir()) for name in ("fd", "task"))
    except OSError:
        return None
    return Held(pid, pages * _PAGE_BYTES, descriptors, threads)


def send(pid: int, number: signal.Signals) -> None:
    """Signal a process of the lab; one that has just ended is no error."""
    if pid and process_alive(pid):
        os.kill(pid, number)


def family(live: LiveLab, name: str, pid: int) -> list[int]:
    """A program and its children: those in its own process group."""
    group = _group(pid)
    return [other for other in marked_processes(live.directory) if _group(other) == group] or [pid]


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return 0


def orphans(live: LiveLab) -> dict[int, str]:
    """The lab's processes that no running program is an ancestor of."""
    keepers = {*programs(live).values(), _supervisor_pid(live), os.getpid()}
    lonely = {}
    for pid in marked_processes(live.directory):
        at = pid
        while at > 1 and at not in keepers:
            at = _parent(at)
        if at <= 1:
            lonely[pid] = _command(pid)
    return lonely


def namespaces() -> set[str]:
    """Names of all network namespaces of this machine."""
    return {path.name for path in NAMESPACE_DIR.iterdir()} if NAMESPACE_DIR.is_dir() else set()


def _supervisor_pid(live: LiveLab) -> int:
    return int((live.directory / "run" / "supervisord.pid").read_text())


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:120]
    except OSError:
        return "ended"


def pause(seconds: float) -> None:
    """Let a random while go by: the moment at which a fault strikes is part of the campaign, not a wait."""
    time.sleep(seconds)
