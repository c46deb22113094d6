"""One attempt at another slot: the router's state before it, and its outcome."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from appliance.engine import durable
from appliance.upgrade.slots import Slot

DEADLINE_S = 600.0
"""How long a tried slot has to become healthy."""
SHORTEST_DEADLINE_S, LONGEST_DEADLINE_S = 60.0, 3600.0


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Before(_Record):
    """What worked in the old slot, and has to work again in the new one."""

    revision: int = 0
    down: tuple[str, ...] = ()
    """Parts that did not work, and what differed from the commit: an upgrade may be what mends them."""
    drift: tuple[str, ...] = ()
    links_up: tuple[str, ...] = ()
    bgp_established: tuple[str, ...] = ()
    ospf_full: tuple[str, ...] = ()


class Attempt(_Record):
    """An attempt, kept until the next one."""

    version: str | None
    slot: Slot
    from_slot: Slot
    author: str
    started_at: str
    """ISO 8601, UTC."""
    deadline_s: float = DEADLINE_S
    before: Before = Before()
    outcome: Literal["pending", "kept", "returned"] = "pending"
    reason: str = ""
    """Why it was returned from."""
    ended_at: str | None = None


class Request(_Record):
    """What the agent asks the service to do."""

    action: Literal["install", "switch"]
    """Write the upload into the other slot; or boot what is in it, once."""
    author: str
    document_schema: int = Field(ge=1)
    """Schema version of the running configuration."""
    allow_downgrade: bool = False
    """Install a version that is older than the running one."""
    reboot: bool = True
    """After ``install``: go on with ``switch``."""
    deadline_s: float = Field(default=DEADLINE_S, ge=SHORTEST_DEADLINE_S, le=LONGEST_DEADLINE_S)


def now() -> str:
    """This moment."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read(path: Path) -> Attempt | None:
    """The last attempt; None when there was none, or its record cannot be read."""
    try:
        return Attempt.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def write(path: Path, attempt: Attempt) -> None:
    """Record an attempt, durably. Raises OSError."""
    durable.make_folder(path.parent, 0o700)
    durable.write(path, attempt.model_dump_json().encode())


def ended(attempt: Attempt, outcome: Literal["kept", "returned"], reason: str = "") -> Attempt:
    """The attempt with its outcome."""
    return attempt.model_copy(update={"outcome": outcome, "reason": reason, "ended_at": now()})
