"""The options of a commit or rollback: passed whole from REST, page and command line to the engine."""

from __future__ import annotations

import uuid
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from appliance.state.watch import DEFAULT_WATCH_S, LONGEST_WATCH_S, SHORTEST_WATCH_S

Line = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$", max_length=500)]
"""Text of one line."""
Author = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,150}$")]
RequestId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$")]
LONGEST_CONFIRM_S = 24 * 3600
COMMIT_WAIT_S = 45.0


def _none_or_a_second(seconds: float) -> float:
    if 0 < seconds < 1:
        raise ValueError("is 0 for no timer, or at least 1 second")
    return seconds


def _none_or_long_enough(seconds: float) -> float:
    if 0 < seconds < SHORTEST_WATCH_S:
        raise ValueError(f"is 0 for no watch, or at least {SHORTEST_WATCH_S:.0f} seconds")
    return seconds


ConfirmSeconds = Annotated[float, Field(ge=0, le=LONGEST_CONFIRM_S), AfterValidator(_none_or_a_second)]
WatchSeconds = Annotated[float, Field(ge=0, le=LONGEST_WATCH_S), AfterValidator(_none_or_long_enough)]


class CommitOptions(BaseModel):
    """The options of one request. Making them checks them, and gives the request its id.

    Raises pydantic's ValidationError; see ``told_by_field`` in ``appliance.config.problem_text``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    author: Author
    comment: Line = ""
    confirm_s: ConfirmSeconds | None = None
    """Roll back after this many seconds unless confirmed; 0 never. None: after DEFAULT_CONFIRM_S when the
    commit touches the caller's own path, and the answer's ``confirm_reason`` says so; else never."""
    watch_s: WatchSeconds | None = None
    """Watch sessions and traffic for this long, and roll back if they get worse; 0: do not watch. None: watch
    for DEFAULT_WATCH_S, and only report."""
    request_id: RequestId = Field(default_factory=lambda: uuid.uuid4().hex)
    """Makes the request idempotent and its result findable."""
    caller_address: IPv4Address | IPv6Address | None = None
    """From where the commit is asked for; None at the router's own console."""
    wait_s: Annotated[float, Field(ge=0, le=COMMIT_WAIT_S)] | None = None
    """Wait this long for the end before the answer is ``running``; the commit goes on. None: as long as a
    request may take."""

    @property
    def timers(self) -> tuple[float | None, float | None]:
        """What distinguishes the request from another one of the same author, comment and document."""
        return self.confirm_s, self.watch_s

    @property
    def watched(self) -> bool:
        """Whether sessions and traffic are watched after the commit."""
        return self.watch_s != 0

    @property
    def rolls_back(self) -> bool:
        """Whether the watch rolls the commit back."""
        return bool(self.watch_s)

    @property
    def watched_for_s(self) -> float:
        """How long it is watched, if it is."""
        return self.watch_s or DEFAULT_WATCH_S

    def with_comment(self, comment: str) -> CommitOptions:
        """The same, with this comment where there is none."""
        return self if self.comment else self._but(comment=comment)

    def confirmed_within(self, confirm_s: float | None) -> CommitOptions:
        """The same with this timer."""
        return self._but(confirm_s=confirm_s)

    def waiting(self, wait_s: float | None) -> CommitOptions:
        """The same, for a caller that waits this long."""
        return self._but(wait_s=wait_s)

    def asked_as(self, request_id: str) -> CommitOptions:
        """The same for another request."""
        return self._but(request_id=request_id)

    def to_json(self) -> dict[str, Any]:
        """The fields of a request to the agent."""
        return self.model_dump(mode="json", exclude_none=True)

    def _but(self, **changed: Any) -> CommitOptions:
        return self.model_copy(update=changed)
