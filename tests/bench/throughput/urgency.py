"""Threads that no other thread on the machine delays during a trial."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path


def threads(pid: int, named: str = "") -> list[int]:
    """Ids of a process's threads whose names begin so."""
    tasks = Path(f"/proc/{pid}/task")
    return [int(task.name) for task in tasks.iterdir() if (task / "comm").read_text().startswith(named)]


def kernel_thread(name: str) -> int:
    """Id of the kernel's thread of that name. Raises StopIteration."""
    return next(
        int(folder.name)
        for folder in Path("/proc").iterdir()
        if folder.name.isdigit() and (folder / "comm").read_text().strip() == name
    )


@contextmanager
def urgent(priorities: Mapping[int, int]) -> Iterator[None]:
    """Threads and their real-time priorities; afterwards they are scheduled as before.

    The kernel takes 5 % of each second from such threads on a CPU that they fill, so a trial is shorter.
    """
    for thread, priority in priorities.items():
        with suppress(ProcessLookupError):  # a thread may end at any time
            os.sched_setscheduler(thread, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(priority))
    try:
        yield
    finally:
        for thread in priorities:
            with suppress(ProcessLookupError):
                os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))
