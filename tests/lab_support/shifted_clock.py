"""The wall clock of a lab's agent, moved by a test: a library preloaded into it, and the file it reads.

The product has no seam for this: ``shifted_clock.c`` stands between it and the C library. Only the real-time
clock moves; monotonic clocks go on, as they do when somebody sets a machine's clock.
"""

from __future__ import annotations

import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")


@dataclass(frozen=True)
class ShiftedClock:
    """The clock of one lab's agent; ``directory`` is the lab's."""

    directory: Path

    @property
    def library(self) -> Path:
        """What is preloaded."""
        return self.directory / "bin" / "shifted_clock.so"

    @property
    def offset_file(self) -> Path:
        """Eight bytes: the seconds by which the clock is off."""
        return self.directory / "run" / "clock-offset"

    def prepare(self) -> None:
        """Build the library and let the clock be right. The lab started afterwards gives it to its agent."""
        for path in (self.library, self.offset_file):
            path.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        self.offset_file.write_bytes(bytes(8))
        subprocess.run(
            ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
             "-o", str(self.library), str(SOURCE), "-ldl"],
            check=True,
            capture_output=True,
            text=True,
        )  # fmt: skip

    def shift(self, seconds: int) -> None:
        """Set the clock off by this many seconds from now on; 0 corrects it."""
        with self.offset_file.open("r+b") as stream:
            stream.write(struct.pack("=q", seconds))

    def environment(self) -> dict[str, str]:
        """Additions to the agent's start: nothing unless the clock was prepared."""
        if not self.library.exists():
            return {}
        return {"LD_PRELOAD": str(self.library), "MILLRACE_LAB_CLOCK_OFFSET": str(self.offset_file)}
