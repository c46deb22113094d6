"""The precedence of process sessions in the kernel's CPU scheduling.

Where the kernel groups processes by session (sched_autogroup_enabled), the nice value of a process counts
only inside its session, and all sessions count the same: VPP at -13 then waits as long as any shell's loop.
The session has a nice value of its own, in /proc/PID/autogroup; see sched(7).
"""

from pathlib import Path

LAB_NICE = -13
"""The lab's session among others, and VPP within it: roughly the effect of vpp.slice's CPUWeight on an
appliance.
"""
TRAFFIC_NICE = -15
"""The program that counts a lab's packets, so that missing packets are the router's losses."""


def set_session_nice(pid: int, nice: int) -> bool:
    """Give the session of process `pid` this nice value among the sessions; returns whether the kernel
    accepted it.

    It refuses where it does not group by session, has the process in a control group, or the caller is not
    root: there the nice values of processes count, or nothing does.
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
