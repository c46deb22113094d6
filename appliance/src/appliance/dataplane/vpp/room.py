"""Room for routes in VPP, whose main heap routes share with features. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from appliance.dataplane.object_step import Phase


@dataclass(frozen=True)
class RouteRoom:
    """How many routes VPP may get from the feeder, given the other uses of its heap."""

    most: int | None
    """None: the feeder knows of no limit."""
    held: int = field(default=0, compare=False)
    """Routes that it has."""


@dataclass(frozen=True)
class RoomStep:
    """Tell the feeder how many routes VPP has room for: before the room is taken, or once it is free."""

    before: int | None
    after: int
    held: int
    """Routes that VPP had when this was planned."""
    phase: Phase
    impact: str = "none"
    path: str = "/dataplane"
    key: Literal["room"] = "room"

    @property
    def summary(self) -> str:
        """One line."""
        said = f"leave room in VPP for {self.after:,} routes"
        return said if self.held <= self.after else f"{said}; it has {self.held:,}, so this is refused"

    @property
    def undo_summary(self) -> str:
        """One line."""
        many = "any number of" if self.before is None else f"{self.before:,}"
        return f"leave room in VPP for {many} routes"


def room_steps(wanted: RouteRoom | None, seen: RouteRoom | None) -> Iterator[RoomStep]:
    """None if no feeder answers, or it knows already.

    Only for plans with other steps: the health check informs a feeder that restarted.
    """
    if wanted is None or seen is None or wanted == seen or wanted.most is None:
        return
    less = seen.most is None or wanted.most < seen.most
    yield RoomStep(seen.most, wanted.most, seen.held, "withdraw" if less else "announce")
