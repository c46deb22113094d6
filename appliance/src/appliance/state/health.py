"""Whether the parts of the router are well, asked now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from appliance.state.part import Answer, Everything, Number, Part, Table

if TYPE_CHECKING:
    from appliance.agent.router import Router


class DaemonHealth(Answer):
    """One process of a part that has several."""

    running: bool
    version: str = ""
    uptime_s: Number | None = None


class PartHealth(Answer):
    """Whether one part is well."""

    state: str = Field(description="up, down, damaged or unknown.")
    detail: str = Field("", description="A sentence.")
    label: str = Field("", description="Title of the part.")
    version: str | None = Field(None, description="Of the part's program, where it is asked for it.")
    daemons: dict[str, DaemonHealth] = Field({}, description="Of a part that has several processes.")


class Health(Answer):
    """Every part, asked now."""

    parts: dict[str, PartHealth]


class NamedHealth(PartHealth):
    """A part with its name, as a row."""

    part: str


def _read(router: Router, _: Everything) -> Health:
    backends: Mapping[str, PartHealth] = {
        backend.name: backend.health() for backend in (router.dataplane, router.routing)
    }
    if router.feeder is not None:
        backends = {**backends, "feeder": router.feeder.health()}
    return Health(parts={**backends, "revisions": router.engine.history_health()})


def _rows(answer: Health) -> Iterable[NamedHealth]:
    return [NamedHealth(part=name, **dict(part)) for name, part in answer.parts.items()]


HEALTH = Part(
    "health",
    "Whether the parts of the router are well.",
    Everything,
    Health,
    _read,
    table=Table(("part", "state", "detail"), _rows),
)
