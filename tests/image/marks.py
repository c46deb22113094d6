"""Messages of a program in the guest, written while the power was still on."""

from __future__ import annotations

import re
from pathlib import Path


class Marks:
    """The guest's output on its second serial port, a file on the host that outlives the guest."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def arguments(self) -> tuple[str, ...]:
        """QEMU's arguments for the port."""
        chardev = f"file,id=marks,path={self.path},append=on"
        return ("-chardev", chardev, "-serial", "chardev:marks")

    def begun(self) -> int:
        """Number of the last requested commit; -1 before the first."""
        return max((int(found[1]) for found in re.finditer(r"begin (\d+)\r?\n", self._text())), default=-1)

    def done(self) -> dict[int, int]:
        """Commits that were reported done, with their revisions."""
        return {int(found[1]): int(found[2]) for found in re.finditer(r"done (\d+) (\d+)\r?\n", self._text())}

    def _text(self) -> str:
        return self.path.read_text(errors="replace") if self.path.exists() else ""
