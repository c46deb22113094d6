"""Logs of the router's parts: what is asked for, and a page of lines."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from appliance.state.part import Answer, Question

PARTS = (
    *("agent", "web", "worker", "scheduler", "nginx"),
    *("vpp", "feeder", "zebra", "mgmtd", "bgpd", "ospfd", "bfdd", "staticd", "watchfrr"),
    "bgpindex",
    *("postgres", "redis", "kernel"),
)
"""Parts of the router that log; a router has some of them."""
Severity = Literal["debug", "info", "notice", "warning", "error", "critical"]
SEVERITIES: tuple[Severity, ...] = ("debug", "info", "notice", "warning", "error", "critical")
MOST_LINES = 500
PartName = Annotated[str, StringConstraints(pattern=r"^[a-z]{1,16}$")]
Cursor = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_=;.-]{1,2000}$")]


class LogQuery(Question):
    """Which lines: those that match all that is given, the newest of them."""

    part: PartName | None = Field(None, description=f"Only those of this part: {', '.join(PARTS)}.")
    severity: Severity | None = Field(
        None, description="Only those of at least this severity; lines without one are left out then."
    )
    text: str = Field("", max_length=200, description="Only those with this text, in any case.")
    after: Cursor | None = Field(None, description="A page's `newest`: only what was logged since.")
    before: Cursor | None = Field(None, description="A page's `oldest`: only what was logged before.")
    limit: int = Field(200, ge=1, le=MOST_LINES, description="Lines at most.")


class LogLine(Answer):
    """A line. Its text may come from other routers: show it escaped."""

    at: str | None = Field(None, description="ISO 8601, UTC; null where the program does not say.")
    part: str
    severity: Severity | None = None
    text: str = Field(description="The whole line.")
    message: str = Field("", description="What it says, without the time and the severity that stand apart.")


class LogPage(Answer):
    """Some lines, the oldest first."""

    lines: tuple[LogLine, ...]
    newest: str = Field(description="Pass it as `after` to get what comes next.")
    oldest: str | None = Field(
        description="Pass it as `before` to get what was before; null where there is nothing."
    )
    more: bool = Field(False, description="Whether a request with `newest` has an answer already.")
    parts: tuple[str, ...] = Field(description="Parts that this router has logs of.")
    note: str = Field("", description="What was not looked at.")
