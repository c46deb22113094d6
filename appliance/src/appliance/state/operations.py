"""What was done over the command line, as the agent tells the web half's audit log."""

from __future__ import annotations

from pydantic import Field

from appliance.state.part import Answer, Question

VIA_HEADER, AUTHOR_HEADER = "Millrace-Via", "Millrace-Author"
"""HTTP headers by which a client other than the web half says how, and for whom, it asks the agent."""


class Operation(Answer):
    """Something that was done, or tried."""

    number: int
    """Another one is higher."""
    at: str
    author: str
    action: str
    target: str
    result: str
    """done or failed."""
    detail: str = ""


class Operations(Answer):
    """The oldest first."""

    operations: tuple[Operation, ...]


class OperationsQuery(Question):
    """Which operations."""

    after: int = Field(0, ge=0, description="Only those with a higher number.")
