"""Commits and rollbacks under way: the one that runs, and those that wait for their turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from appliance.state.part import Answer

Stage = Literal["queued", "planning", "applying", "verifying", "recording", "undoing"]
STAGES: dict[str, str] = {
    "queued": "waits for its turn",
    "planning": "observes the router and plans",
    "applying": "applies",
    "verifying": "reads the router back",
    "recording": "records the revision",
    "undoing": "puts everything back",
}
"""In words."""


class CommitUnderWay(Answer):
    """A commit or rollback that runs or waits."""

    id: str = Field(description="Its request id, by which it is asked about and cancelled.")
    kind: Literal["commit", "rollback"]
    author: str
    comment: str = ""
    asked_at: str = Field(description="When it was asked for.")
    begun_at: str | None = Field(None, description="When its turn came; null while it waits.")
    state: Stage = Field(
        description="queued; planning; applying, see `step`; verifying; recording: it can no longer be "
        "cancelled; undoing: a step failed, or it was cancelled."
    )
    position: int = Field(0, description="0 for the one that runs, 1 for the next.")
    ahead: tuple[str, ...] = Field((), description="Those ahead of it, the one that runs first.")
    step: int = Field(0, description="The step that is applied, from 1; 0 before the first.")
    steps: int = Field(0, description="How many there are; 0 until that is known.")
    doing: str = Field("", description="What that step does.")
    cancelled_by: str = Field("", description="Who cancelled it, while it is still to be undone.")
    can_cancel: bool = Field(True, description="Whether it can be cancelled now.")

    @property
    def words(self) -> str:
        """What it does now, in words: ``applies step 3 of 12: add route map A``."""
        if self.state == "queued":
            return f"waits at position {self.position}, behind {joined(self.ahead)}"
        said = STAGES[self.state]
        if self.state == "applying" and self.steps:
            said = f"applies step {self.step} of {self.steps}: {self.doing}"
        if not self.cancelled_by:
            return said
        still = "" if self.state == "undoing" else "still "
        return f"was cancelled by {self.cancelled_by}, and {still}{said}"


class CommitsUnderWay(Answer):
    """The commit that runs, and those that wait, in the order of their turns."""

    running: CommitUnderWay | None = Field(None, description="Null when none runs.")
    queued: tuple[CommitUnderWay, ...] = ()
    most_queued: int = Field(description="This many may wait; the next is refused.")


@dataclass(frozen=True)
class PlanStep:
    """One step of a commit, as the agent planned it."""

    backend: str = ""
    phase: str = ""
    summary: str = ""
    undo_summary: str = ""
    impact: str = ""
    path: str = ""


class CommitOutcome(Answer):
    """The outcome of a commit. ``running`` means: ask for it later, by its request id."""

    request_id: str
    state: Literal["done", "failed", "running"]
    revision: int | None = None
    steps: tuple[PlanStep, ...] = ()
    error: dict[str, Any] | None = None
    confirm_expires_at: str | None = None
    confirm_reason: str = ""
    """Why it has to be confirmed although nobody asked for that."""
    reopened: tuple[str, ...] = ()
    """The sessions that it set up again after the previous revision had kept them closed, a sentence each."""
    watch_s: float | None = None
    """How long sessions and traffic are watched; None without a watch."""
    rolls_back: bool = False
    """It is rolled back automatically when sessions or traffic get worse."""
    progress: CommitUnderWay | None = None
    """Its progress while it is ``running``."""

    @property
    def watch_words(self) -> str:
        """The watch that began, in words; empty without one."""
        if self.watch_s is None:
            return ""
        what = ", and it rolls back automatically if they get worse" if self.rolls_back else ""
        return f"sessions and traffic are watched for {self.watch_s:.0f} seconds{what}"


def joined(names: tuple[str, ...]) -> str:
    """``the commit of alice and 2 more``."""
    if not names:
        return "the router's own check"
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
