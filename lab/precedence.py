"""Which sessions of processes the kernel gives the CPU first.

Where the kernel groups processes by session (sched_autogroup_enabled), the nice value of a process counts
inside its session only, and each session counts as much as another: VPP at -13 then waits as long as any
shell's loop. The session has a nice value of its own, in /proc/PID/autogroup; see sched(7).
"""

from pathlib import Path

LAB_NICE = -13
"""A lab's session among others, and VPP inside it: about what vpp.slice's CPUWeight is on an appliance."""
TRAFFIC_NICE = -15
"""Whoever counts a lab's packets, so that what it misses is the router's doing."""


def set_session_nice(pid: int, nice: int) -> bool:
    """Give the session of process `pid` this nice value among the sessions; whether the kernel took it.

    It does not where it does not group by session, has the process in a control group, or the caller is not
    root: the nice values of processes count there, or nothing does.
    """
    try:
        Path(f"/proc/{pid}/autogroup").write_text(str(nice))
    except OSError:
        return False
    return True


def session_nice(pid: int) -> int | None:
    """The nice value of the process's session; None where the kernel does not group by session."""
    try:
        text = Path(f"/proc/{pid}/autogroup").read_text()
    except OSError:
        return None
    return int(text.rpartition(" ")[2]) if text.strip() else None
