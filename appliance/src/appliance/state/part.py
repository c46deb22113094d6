"""A part of the router's live state: its name, its question, its answer, and how it is read.

The agent's route, the client's call, the REST endpoint and the command line's ``show`` follow from it. Web
and command line import parts too, so a part imports what drives the router only while it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from frr_config.types import VrfName

if TYPE_CHECKING:
    from appliance.agent.router import Router

Number = int | float


class Answer(BaseModel):
    """What the agent answers, or a piece of it. Strings may come from other routers: show them escaped."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class PartlyRead(Answer):
    """An answer some fields of which may not have been read.

    What such a field holds, an empty list or 0, then means nothing: nobody looked. Whoever shows the answer
    shows the reason in place of the field.
    """

    untold: dict[str, str] = Field(
        {},
        description="Fields of this answer that were not read, or that this router cannot know, with the "
        "reason. Their values mean nothing.",
    )

    def why_not(self, field: str) -> str:
        """Why a field was not read, as a clause; empty where it was."""
        return self.untold.get(field, "")


class Question(BaseModel):
    """What can be asked of a part; equal questions share one reading."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Everything(Question):
    """The question of a part that offers no choice."""


class OfVrf(Question):
    """A question about one VRF."""

    vrf: VrfName | None = Field(None, description="Of this VRF; of the default VRF where none is named.")


A = TypeVar("A", bound=Answer)
Q = TypeVar("Q", bound=Question)


@dataclass(frozen=True)
class Table(Generic[A]):
    """How a terminal shows an answer: the rows, and those of their fields and properties that are columns."""

    columns: tuple[str, ...]
    rows: Callable[[A], Iterable[BaseModel]]
    note: Callable[[A], str] | None = None
    """A note below the rows, such as which are missing; nothing if it is empty."""
    field: str = ""
    """Of a ``PartlyRead`` answer: the field that holds the rows."""

    def why_not(self, answer: A) -> str:
        """Why the rows were not read; empty where they were."""
        return answer.why_not(self.field) if isinstance(answer, PartlyRead) else ""

    def cells(self, answer: A) -> list[dict[str, Any]]:
        """The values of the columns, as JSON, by row."""
        return [
            {column: fields[column] if column in fields else getattr(row, column) for column in self.columns}
            for row in self.rows(answer)
            for fields in [row.model_dump(mode="json")]
        ]


@dataclass(frozen=True)
class Gauge:
    """A figure of an answer that is worth a metric."""

    name: str
    """In the words of Prometheus, without the prefix of all."""
    text: str
    value: float
    counts: bool = False
    """It only grows, until the router starts again."""


@dataclass(frozen=True)
class Part(Generic[Q, A]):
    """One part of the live state."""

    name: str
    """In small letters with dashes; as ``show NAME`` has it."""
    summary: str
    """One sentence for the API's description and the command line."""
    question: type[Q]
    answer: type[A]
    read: Callable[[Router, Q], A]
    """Runs in a thread of the agent. Raises BackendUnavailable, NotFound."""
    path: str = ""
    """Below ``state/``, with fields of the question in braces; empty for the name."""
    lane: Callable[[Q], str] | None = None
    """The thread that reads; None for one of this part's own. Readings of one lane wait for each other."""
    table: Table[A] | None = None
    """None: a terminal shows the answer as a tree."""
    gauges: Callable[[A], Iterable[Gauge]] | None = None
    """The answer's metrics; a part that has them is read at each scrape, so its reading must be short."""
    command: str = ""
    """What follows ``show`` on the command line; empty for the name."""

    @property
    def where(self) -> str:
        """The path below ``state/``."""
        return self.path or self.name

    @property
    def in_path(self) -> tuple[str, ...]:
        """Fields of the question that the path holds."""
        return tuple(field for _, field, _, _ in Formatter().parse(self.where) if field)

    def lane_of(self, question: Q) -> str:
        """The name of the thread that answers ``question``."""
        return self.name if self.lane is None else self.lane(question)

    def asked(self, given: Mapping[str, Any]) -> Q:
        """The question with these fields. Raises pydantic's ValidationError."""
        return self.question.model_validate(given)


AnyPart = Part[Any, Any]
