"""``show alarms`` and ``show events``."""

from __future__ import annotations

from appliance.cli import text
from appliance.cli.errors import CommandError
from appliance.cli.output import Output, number
from appliance.client import AgentClient
from appliance.state.alarms import MOST_EVENTS, Alarm, EventsQuery


def show_alarms(agent: AgentClient, words: list[str]) -> Output:
    """Active alarms, the most severe first."""
    if words:
        raise CommandError(f"{words[0]!r} is not expected here")
    answer = agent.alarms()
    parts = [_told(one) for one in answer.alarms]
    parts += [f"not checked: {name}: {text.clean(reason)}" for name, reason in answer.unchecked.items()]
    if answer.looked_s_ago is None:
        parts.append("the router has not been checked yet")
    return Output(answer.model_dump(mode="json"), "\n".join(parts) or "no active alarms")


def _told(one: Alarm) -> str:
    unsure = "" if one.checked else "  (cannot be checked now)"
    lines = [
        f"{one.severity}  {text.clean(one.object)}  for {one.for_s:.0f} s{unsure}",
        one.summary,
        one.advice,
    ]
    return "\n    ".join([lines[0], *map(text.clean, lines[1:])])


def show_events(agent: AgentClient, words: list[str]) -> Output:
    """Alarms that were raised and cleared, the newest first: ``events [COUNT]``."""
    if len(words) > 1:
        raise CommandError("show events [COUNT]")
    limit = number(words[0], "count") if words else 20
    if not 1 <= limit <= MOST_EVENTS:
        raise CommandError(f"count is 1 to {MOST_EVENTS}")
    answer = agent.events(EventsQuery(limit=limit))
    rows = [one.model_dump(mode="json") for one in answer.events]
    shown = text.table(rows, ("time", "event", "severity", "lasted_s", "revision", "summary"))
    if answer.total > len(rows):
        shown += f"\n{len(rows)} of {answer.total} events; `events COUNT` shows more"
    return Output(answer.model_dump(mode="json"), shown)
