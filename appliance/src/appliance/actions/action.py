"""An action on the running router without a commit: its name, its question, and its function.

The agent's endpoint, the client's call, the REST operation and the command line's words follow from it. Web
and command line import actions too, so an action imports what drives the router only while it acts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import Field

from appliance.state.part import Answer, Question

if TYPE_CHECKING:
    from appliance.agent.router import Router

Q = TypeVar("Q", bound=Question)


class Done(Answer):
    """What was done."""

    done: tuple[str, ...] = Field(description="A sentence for each thing.")


@dataclass(frozen=True)
class Action(Generic[Q]):
    """One thing that an operator can do."""

    name: str
    """In small letters with dashes; the end of its address."""
    summary: str
    """One sentence for the API's description and the command line."""
    question: type[Q]
    act: Callable[[Router, Q, str], Done]
    """Runs in a thread of the agent; the text is who asked. Raises NotFound, Conflict, BackendUnavailable."""
    words: Callable[[list[str]], Mapping[str, Any] | None]
    """What follows ``clear`` on the command line, as fields of the question; None where it means another."""
    usage: str
    """The words on the command line."""
    target: Callable[[Q], str]
    """Its target, for the audit log."""

    def asked(self, given: Mapping[str, Any]) -> Q:
        """The question with these fields. Raises pydantic's ValidationError."""
        return self.question.model_validate(given)


AnyAction = Action[Any]
