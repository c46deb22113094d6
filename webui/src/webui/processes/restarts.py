"""When to restart a child that ended. Pure."""

from __future__ import annotations

from dataclasses import dataclass

STEADY_S = 60.0
"""A child that ran for this long has started well: its next end starts a new series of delays."""
LONGEST_DELAY_S = 30.0
_FIRST_DELAY_S = 1.0


@dataclass
class Restarts:
    """The delays of one child: none after a steady run, otherwise each delay is twice the one before it."""

    in_a_row: int = 0
    """The number of ends soon after the start, without a steady run in between."""

    def delay_s(self, ran_s: float) -> float:
        """How long to wait before the next start, after a run of ``ran_s``."""
        if ran_s >= STEADY_S:
            self.in_a_row = 0
            return 0.0
        self.in_a_row += 1
        return min(LONGEST_DELAY_S, _FIRST_DELAY_S * 2.0 ** min(self.in_a_row - 1, 10))

    def steady(self) -> None:
        """It is running, and has been for STEADY_S."""
        self.in_a_row = 0
