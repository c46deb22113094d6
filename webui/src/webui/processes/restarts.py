"""When a child that ended is started again. Pure."""

from __future__ import annotations

from dataclasses import dataclass

STEADY_S = 60.0
"""One that ran for so long has started well: its next end is a new story."""
LONGEST_DELAY_S = 30.0
_FIRST_DELAY_S = 1.0


@dataclass
class Restarts:
    """Of one child: at once after it ran steadily; else each delay is twice the one before it."""

    in_a_row: int = 0
    """Ends soon after the start, without a steady run between them."""

    def delay_s(self, ran_s: float) -> float:
        """How long to wait with the next start, after a run of ``ran_s``."""
        if ran_s >= STEADY_S:
            self.in_a_row = 0
            return 0.0
        self.in_a_row += 1
        return min(LONGEST_DELAY_S, _FIRST_DELAY_S * 2.0 ** min(self.in_a_row - 1, 10))

    def steady(self) -> None:
        """It runs, and has for STEADY_S."""
        self.in_a_row = 0
