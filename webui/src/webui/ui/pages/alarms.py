"""Current alarms, and the log of those that were raised and cleared."""

from collections.abc import Mapping
from typing import Any

from appliance.state.alarms import MOST_EVENTS, Alarm, AlarmEvent, Alarms, Events, EventsQuery
from webui.agent import agent
from webui.alarms import alarms
from webui.ui.tables.declaration import Column, Link, Live, Look, Page, Table
from webui.ui.tables.row import Row


def _events() -> Events:
    return agent().events(EventsQuery(limit=MOST_EVENTS))


def _by_summary(answer: Alarms) -> Mapping[str, Alarm]:
    """A summary names the object, so that all summaries differ."""
    return {one.summary: one for one in answer.alarms}


def _by_number(answer: Events) -> Mapping[str, AlarmEvent]:
    return {f"{one.time[:19].replace('T', ' ')} #{one.number}": one for one in answer.events}


def _about(answer: Alarms) -> str:
    """The basis of "healthy": what was checked, when, and what could not be."""
    if answer.looked_s_ago is None:
        return "The router has not been checked since its agent started: nothing is known."
    ago_s = round(answer.looked_s_ago)
    ago = "1 second" if ago_s == 1 else f"{ago_s} seconds"
    said = f"Checked {ago} ago: {', '.join(answer.checks) or 'nothing'}."
    if answer.unchecked:
        said += " Not checked: " + "; ".join(f"{name}, {why}" for name, why in answer.unchecked.items()) + "."
    return said


def _evidence(row: Row) -> list[str]:
    found: Mapping[str, str] = row.live("evidence", {})
    said = [f"{name}: {value}" for name, value in found.items() if name != "reason"]
    return said if row.live("checked", True) else [*said, "it cannot be checked now"]


def _object(row: Row) -> Any:
    pointer, name = row.live("pointer", ""), row.live("object", "")
    return Link(name, pointer) if pointer else name


PAGE = Page(
    name="alarms",
    path="alarms",
    title="Alarms",
    icon="alert-triangle",
    order=20,
    key="l",
    tabs=True,
    tables=(
        Table(
            name="alarms",
            noun="alarm",
            plural="Alarms",
            key_title="Alarm",
            sentence=True,
            below=lambda row: row.live("advice"),
            live=Live(alarms, _by_summary, api="/alarms", about=_about),
            columns=(
                Column("severity", "Severity", look=Look.STATE, live=True),
                Column(title="Object", value=_object),
                Column("for_s", "For", look=Look.DURATION, live=True),
                Column(title="Seen", value=_evidence),
            ),
            empty="No active alarms.",
        ),
        Table(
            name="events",
            noun="event",
            plural="Event log",
            key_title="When (UTC)",
            live=Live(_events, _by_number, api="/events"),
            columns=(
                Column("event", "Event", look=Look.STATE, live=True),
                Column("severity", "Severity", live=True),
                Column("summary", "Alarm", look=Look.SENTENCE, live=True),
                Column("lasted_s", "Lasted", look=Look.DURATION, live=True),
                Column("revision", "Revision", look=Look.NUMBER, live=True),
            ),
            empty="No alarm has been raised yet.",
        ),
    ),
)
