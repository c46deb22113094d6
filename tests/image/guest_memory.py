"""Runs inside the guest: joins a unit's control group and takes memory until the kernel ends it.

``python -m tests.image.guest_memory CONTROL_GROUP MEBIBYTES`` prints ``joined``, and ``survived`` when it got
that many and still lives.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

STEP_MIB = 8
_SCORE = "oom_score_adj"


def _members(group: Path) -> list[str]:
    return (group / "cgroup.procs").read_text().split()


def main() -> None:
    """Take it in steps, each page written, so that it is memory and not a promise."""
    group, most_mib = Path(sys.argv[1]), int(sys.argv[2])
    own = [int(Path(f"/proc/{pid}/{_SCORE}").read_text()) for pid in _members(group)]
    # As one of the unit's own: the kernel ends first what may go first.
    Path(f"/proc/self/{_SCORE}").write_text(f"{max(own)}\n")
    (group / "cgroup.procs").write_text(f"{os.getpid()}\n")
    print("joined", flush=True)
    taken = [b"\x01" * (STEP_MIB << 20) for _ in range(most_mib // STEP_MIB)]
    print(f"survived {len(taken) * STEP_MIB}")


if __name__ == "__main__":
    main()
