"""Finds and ends the processes of a lab, including those whose supervisor was killed.

Every process that the lab starts inherits an environment variable with the lab's directory. Programs that
overwrite their environment (PostgreSQL and Redis, to show a title) are found by their working directory.
"""

import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

MARKER = "MILLRACE_LAB"
_TITLED_PROGRAMS = ("postgres", "redis-server", "redis-check-rdb", "valkey-server")


def marked_processes(directory: Path) -> list[int]:
    """Process ids that belong to the lab in `directory`, except this process."""
    marker = f"{MARKER}={directory}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            if marker in environment or _titled_inside(entry, directory):
                found.append(int(entry.name))
        except OSError:
            continue  # it ended in the meantime, or it is a kernel thread
    return found


def _titled_inside(entry: Path, directory: Path) -> bool:
    if (entry / "exe").resolve().name not in _TITLED_PROGRAMS:
        return False
    return (entry / "cwd").resolve().is_relative_to(directory)


def process_alive(pid: int) -> bool:
    """Whether the process runs (a zombie does not)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def end_processes(pids: Iterable[int], grace_s: float = 5.0) -> None:
    """SIGTERM, then SIGKILL after `grace_s`, then wait until all have ended."""
    remaining = [pid for pid in pids if _signalled(pid, signal.SIGTERM)]
    deadline = time.monotonic() + grace_s
    while remaining and time.monotonic() < deadline:
        time.sleep(0.05)
        remaining = [pid for pid in remaining if process_alive(pid)]
    for pid in remaining:
        _signalled(pid, signal.SIGKILL)
    deadline = time.monotonic() + grace_s
    while any(process_alive(pid) for pid in remaining) and time.monotonic() < deadline:
        time.sleep(0.05)


def _signalled(pid: int, number: signal.Signals) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True
