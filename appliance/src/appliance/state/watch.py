"""What a commit did to sessions and traffic, as the watch after it saw it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from appliance.impact.result import Result
from appliance.state.part import Answer

DEFAULT_WATCH_S = 30.0
"""How long every commit is watched where nothing else is said."""
SHORTEST_WATCH_S, LONGEST_WATCH_S = 5.0, 3600.0
STATES = {
    "watching": "sessions and traffic are watched",
    "as_before": "sessions and traffic are as before",
    "worse": "sessions or traffic got worse",
    "rolled_back": "sessions or traffic got worse, rolled back automatically",
    "superseded": "another revision came before the watch was over",
    "interrupted": "the watch was interrupted",
}
"""In words."""
WatchState = Literal["watching", "as_before", "worse", "rolled_back", "superseded", "interrupted"]
Foretold = Literal["certain", "possible", "no", "unknown"]


class Worsening(Answer):
    """Something that is worse than before the commit. Texts may hold what other routers said."""

    rule: str = Field(description="The rule that found it, by name.")
    object: str = Field(description="What it is about: a neighbor, an interface, a destination.")
    text: str = Field(description="One sentence.")
    before: str = Field("", description="What was seen before the commit.")
    after: str = Field("", description="What is seen now.")
    path: str = Field("", description="JSON pointer of the object in the document.")
    asked_for: bool = Field(
        False, description="The commit removed or disabled the object itself: this does not count as worse."
    )
    foretold: Foretold = Field(
        "unknown", description="Whether the commit's impact said so. unknown: its impact was not analysed."
    )
    for_s: float = Field(0.0, description="How long it has been so when it was last looked at.")


class Measured(Answer):
    """One thing that was compared, in short."""

    name: str
    before: str
    after: str


class WatchReport(Answer):
    """What happened after a commit, beside what was foretold."""

    revision: int
    state: WatchState = Field(
        description="watching: not over yet. as_before: nothing got worse but what was asked for. "
        "superseded: another revision came first. interrupted: the rest could not be watched."
    )
    rolls_back: bool = Field(
        description="It was, or is, to be rolled back automatically if sessions or traffic get worse."
    )
    watch_s: float = Field(description="How long it is watched.")
    left_s: float = Field(0.0, description="Of that, the time left.")
    began: str = Field(description="When the commit was recorded.")
    compared_with: int = Field(description="The revision that is compared with.")
    rollback_to: int = Field(0, description="The revision that comes back where it rolls back.")
    measured: tuple[Measured, ...] = Field((), description="What was compared, before and now.")
    not_compared: dict[str, str] = Field({}, description="What could not be compared, with the reason.")
    worsenings: tuple[Worsening, ...] = Field((), description="What is worse; at most 50.")
    left_off: int = Field(0, description="Worsenings beyond those that are listed.")
    passing: tuple[Worsening, ...] = Field((), description="What was worse for a while and is as before.")
    foretold: Result | None = Field(None, description="The impact as it was analysed before the commit.")
    not_seen: tuple[str, ...] = Field((), description="What was foretold as certain and was not seen.")
    rolled_back_to: int | None = None
    as_before_since: str | None = Field(
        None,
        description="When they were seen to be as before again, after a watch that ended with them worse.",
    )
    note: str = Field("", description="Why it ended early, or by whom its rollback was called off.")

    @property
    def counted(self) -> tuple[Worsening, ...]:
        """What counts as worse."""
        return tuple(one for one in self.worsenings if not one.asked_for)

    @property
    def surprises(self) -> tuple[Worsening, ...]:
        """What counts as worse and was not foretold."""
        return tuple(one for one in self.counted if one.foretold in ("no", "unknown"))
