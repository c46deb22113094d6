"""Versions of FRRouting that differ in their output or in which daemon takes a line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from frr_config.errors import FrrConfigError


@dataclass(frozen=True, slots=True, order=True)
class FrrVersion:
    """Major and minor number of a release; the patch level makes no difference here."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> FrrVersion:
        """Read ``8.4``, ``8.4.4`` or ``FRRouting 10.3 (host) ...``. Raises FrrConfigError."""
        match = re.search(r"(?:^|FRRouting )(\d+)\.(\d+)", text)
        if match is None:
            raise FrrConfigError(f"{text[:80]!r} is not a version of FRRouting")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    @property
    def has_mgmtd(self) -> bool:
        """True where mgmtd takes the lines of zebra and staticd (from FRR 10 on)."""
        return self.major >= 10

    @property
    def compares_entries(self) -> bool:
        """True where a new entry of a prefix list is compared with all others (before FRR 9)."""
        return self.major < 9


V8_4 = FrrVersion(8, 4)
"""Debian 12."""
V10_3 = FrrVersion(10, 3)
"""Debian 13."""
