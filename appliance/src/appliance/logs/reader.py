"""Pages of the router's logs: filtered, cleaned, and without secrets."""

from __future__ import annotations

from appliance.errors import NotFound, Problem, ValidationFailed
from appliance.logs.line_text import clean, message_of
from appliance.logs.redaction import Redaction, Strike
from appliance.logs.source import Found, LogSource, Wanted, at_least
from appliance.state.logs import LogLine, LogPage, LogQuery

SHORT = "older lines were not searched: ask for those before these"
NONE = "this agent has no logs: its settings name neither files nor a journal"


class Logs:
    """Reads one source. Safe to use from any thread."""

    def __init__(self, source: LogSource | None, redaction: Redaction) -> None:
        self._source, self._redaction = source, redaction

    def page(self, query: LogQuery) -> LogPage:
        """The matching lines. Raises ValidationFailed, NotFound, LogUnavailable."""
        source = self._source
        if source is None:
            raise NotFound(NONE)
        parts = source.parts()
        if query.part is not None and query.part not in parts:
            raise ValidationFailed([Problem("/part", f"must be one of {', '.join(parts)}")])
        if query.after is not None and query.before is not None:
            raise ValidationFailed([Problem("/before", "give after or before, not both")])
        struck = self._redaction.current()
        words = query.text.casefold()

        def fits(line: LogLine) -> bool:
            if not at_least(line.severity, query.severity):
                return False
            # Searched after redaction: a search must not reveal a secret.
            return not words or words in struck(line.text).casefold()

        wanted = Wanted(parts if query.part is None else (query.part,), query.limit, fits)
        if query.after is not None:
            found = source.after(wanted, query.after)
        elif query.before is not None:
            found = source.before(wanted, query.before)
        else:
            found = source.latest(wanted)
        short = query.after is None and len(found.lines) < query.limit and found.oldest is not None
        return _page(found, parts, struck, SHORT if short else "")


def _page(found: Found, parts: tuple[str, ...], struck: Strike, note: str) -> LogPage:
    lines = tuple(_shown(one, struck(one.text)) for one in found.lines)
    return LogPage(
        lines=lines, newest=found.newest, oldest=found.oldest, more=found.more, parts=parts, note=note
    )


def _shown(line: LogLine, text: str) -> LogLine:
    return line.model_copy(update={"text": clean(text), "message": clean(message_of(text))})
