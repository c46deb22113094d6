"""``show log``: the logs of the router's programs, once or continuously."""

from __future__ import annotations

import sys
import time

from appliance.cli import text
from appliance.cli.output import Output
from appliance.cli.questions import fields, told_by_field
from appliance.client import AgentClient
from appliance.state.logs import LogLine, LogPage, LogQuery

USAGE = "show log [PART] [severity LEAST] [text WORD] [limit N] [-f]"
_VALUED = {word: word for word in ("severity", "text", "limit")}
_EVERY_S = 1.0


def show_log(agent: AgentClient, words: list[str]) -> Output:
    """The newest lines; with ``-f`` also new lines as they come, until Control-C."""
    follow = "-f" in words
    query = _query([word for word in words if word != "-f"])
    page = agent.logs(query)
    if not follow:
        lines = [*map(_line, page.lines), *filter(None, [page.note and f"({page.note})"])]
        return Output(page.model_dump(mode="json"), "\n".join(lines) or "(none)")
    try:
        _follow(agent, query, page)
    except KeyboardInterrupt:
        return Output(None, "")
    return Output(None, "")


def _follow(agent: AgentClient, query: LogQuery, page: LogPage) -> None:
    while True:
        for one in page.lines:
            sys.stdout.write(_line(one) + "\n")
        sys.stdout.flush()
        if not page.more:
            time.sleep(_EVERY_S)
        page = agent.logs(query.model_copy(update={"after": page.newest}))


def _query(words: list[str]) -> LogQuery:
    given = fields(words, {}, _VALUED, bare="part", usage=USAGE)
    with told_by_field():
        return LogQuery.model_validate(given)


def _line(line: LogLine) -> str:
    at = (line.at or "-")[:23].replace("T", " ")
    return text.clean(f"{at} {line.part} {line.severity or '-'} {line.message}")
