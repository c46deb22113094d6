"""Alarms that stand, and the log of those that were raised and cleared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from appliance.state.part import Answer, Question

Severity = Literal["critical", "major", "minor", "warning"]
SEVERITIES: tuple[Severity, ...] = ("critical", "major", "minor", "warning")
"""The worst first."""
MOST_EVENTS = 1000
"""Events in one answer."""
Word = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]*$", max_length=128)]
"""What a filter takes."""


class Alarm(Answer):
    """Something that keeps the router from doing what its document says."""

    kind: str = Field(description="Such as link_down or part_down.")
    object: str = Field(description="What it is about: an interface, a neighbor, a part of the router.")
    severity: Severity
    summary: str = Field(description="One sentence.")
    since: str = Field(description="When it began, by the router's current clock.")
    for_s: float = Field(description="Seconds since it began; no change of the clock moves it.")
    evidence: dict[str, str] = Field({}, description="The values that were seen.")
    advice: str = Field(description="What to do about it.")
    pointer: str = Field("", description="JSON pointer of the object in the document.")
    checked: bool = Field(
        True, description="False: it was active when it could last be checked, and it cannot be checked now."
    )


class Alarms(Answer):
    """Every alarm that stands, the worst first."""

    alarms: tuple[Alarm, ...] = ()
    counts: dict[Severity, int] = Field({}, description="By severity; those that are 0 are left out.")
    worst: Severity | None = None
    looked_s_ago: float | None = Field(
        None, description="How old this is. Null: the router has not been checked since the agent started."
    )
    checks: tuple[str, ...] = Field(
        (),
        description="What was checked: without an alarm, these are well. What does not run is not checked.",
    )
    unchecked: dict[str, str] = Field(
        {}, description="Checks that cannot be made now, with the reason: of these nothing new is known."
    )


class AlarmEvent(Answer):
    """An alarm was raised, or cleared."""

    number: int = Field(description="Grows by one with each event.")
    time: str
    event: Literal["raised", "cleared"]
    check: str = ""
    kind: str
    object: str
    severity: Severity
    summary: str
    lasted_s: float | None = Field(None, description="Of a cleared alarm: how long it was active.")
    revision: int = Field(description="The revision that ran then.")
    evidence: dict[str, str] = {}
    advice: str = ""
    pointer: str = ""


class Events(Answer):
    """A part of the event log, the newest first."""

    events: tuple[AlarmEvent, ...]
    total: int = Field(description="Events that match, on this page and elsewhere.")


class EventsQuery(Question):
    """Which events."""

    limit: int = Field(50, ge=1, le=MOST_EVENTS)
    offset: int = Field(0, ge=0, le=10_000_000)
    event: Literal["raised", "cleared"] | None = None
    kind: Word | None = Field(None, description="Such as link_down.")
    object: Word | None = Field(None, description="The whole name of the object.")
    severity: Severity | None = None

    def matches(self, event: AlarmEvent) -> bool:
        """Whether this event is asked for."""
        asked = self.model_dump(include={"event", "kind", "object", "severity"}, exclude_none=True)
        return all(getattr(event, name) == wanted for name, wanted in asked.items())


def counted(severities: Iterable[Severity]) -> dict[Severity, int]:
    """How many there are of each severity, the worst first."""
    found = list(severities)
    return {severity: found.count(severity) for severity in SEVERITIES if severity in found}
