"""Logs of the router's parts: the newest lines, and new ones as they arrive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from appliance.config.problem_text import sentence_of, told_by_field
from appliance.errors import ValidationFailed
from appliance.state.logs import PARTS, SEVERITIES, LogLine, LogPage, LogQuery
from webui import router_logs
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.ui.api_call import reads
from webui.ui.page import look, show

_TITLES = {"part": "Part", "severity": "At least", "text": "Text", "before": "Place in the log"}
_FIELDS = ("part", "severity", "text")
_NOTHING = LogPage(lines=(), newest="none", oldest=None, parts=PARTS)


@require_GET
@role_required(Role.OPERATOR)
def logs(request: HttpRequest) -> HttpResponse:
    """A page of lines; ``?before=`` is an older one."""
    given = {name: value for name in _FIELDS if (value := request.GET.get(name, "").strip())}
    cursor = {"before": before} if (before := request.GET.get("before", "")) else {}
    wrong, page, failure = "", _NOTHING, ""
    try:
        with told_by_field():
            query = LogQuery.model_validate({**given, **cursor})
        found = look(lambda: router_logs.page(actor_of(request), query), _NOTHING, _TITLES)
        page, failure = found.value, found.failure
    except ValidationFailed as error:
        wrong = sentence_of(error.problems, _TITLES)
    asked = urlencode(given)
    context = {
        "given": given,
        "wrong": wrong,
        "failure": failure,
        "page": page,
        "lines": list(with_days(page.lines)),
        "parts": page.parts,
        "severities": SEVERITIES,
        "follows": not cursor and not wrong and not failure,
        "follow_url": f"/api/v1/logs?{asked}{'&' if asked else ''}after=",
        "older": f"?{urlencode({**given, 'before': page.oldest})}" if page.oldest else "",
        "newest_url": f"?{asked}",
        "is_older": bool(cursor),
        "api_calls": reads(("These lines", f"/logs{f'?{asked}' if asked else ''}")),
    }
    return show(request, "ui/logs.html", "logs", context)


def with_days(lines: Iterable[LogLine]) -> Iterator[tuple[str, LogLine]]:
    """Each line, with its day where that is another than the day before; a line without a time has none."""
    last = ""
    for line in lines:
        day = (line.at or "")[:10]
        yield (day if day != last else ""), line
        last = day or last
