"""The watch after a commit, as pages show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest
from pydantic import ValidationError

from appliance.errors import MillraceError
from appliance.state.commit_options import CommitOptions
from appliance.state.watch import DEFAULT_WATCH_S, STATES, WatchReport
from webui import router_state
from webui.accounts.actor import actor_of
from webui.agent import agent
from webui.changes import commits
from webui.ui.commits import PAGE_WAIT_S
from webui.ui.one_line import one_line
from webui.ui.whole_number import whole

WATCH_CHOICES = (
    (30, "30 seconds"),
    (60, "1 minute"),
    (120, "2 minutes"),
    (300, "5 minutes"),
    (600, "10 minutes"),
)
_RULES, _RULES_S = "watch-rules", 60
_CUT_SHORT = ("rolled_back", "superseded", "interrupted")
_TAGS = {"as_before": "tag-good", "worse": "tag-bad", "rolled_back": "tag-bad"}


def current() -> WatchReport | None:
    """The current watch; None without one."""
    return _read((router_state.status() or {}).get("watch"))


def choice(request: HttpRequest) -> dict[str, Any]:
    """For the form: the choices, and the previous selection."""
    chosen = whole(request.POST.get("watch_s", ""))
    return {
        "watch_choices": WATCH_CHOICES,
        "watch_rules": _rules(),
        "chosen_watch": bool(request.POST.get("watch")),
        "chosen_watch_s": int(DEFAULT_WATCH_S) if chosen is None else chosen,
    }


def options_of(request: HttpRequest) -> CommitOptions:
    """The options of a posted form: without ``watch`` the commit is watched without a rollback.

    Raises ValidationFailed.
    """
    asked = request.POST
    return commits.options_of(
        actor_of(request),
        comment=one_line(asked.get("comment", "")),
        confirm_s=whole(asked.get("confirm_s", "")),
        watch_s=whole(asked.get("watch_s", "")) if asked.get("watch") else None,
        wait_s=PAGE_WAIT_S,
    )


def _rules() -> tuple[tuple[str, str], ...]:
    """They change only with the agent's version."""
    known: dict[str, str] | None = cache.get(_RULES)
    if known is None:
        try:
            known = agent().watch_rules()
        except MillraceError:
            return ()
        cache.set(_RULES, known, _RULES_S)
    return tuple(known.items())


def report_of(revision: Mapping[str, Any]) -> dict[str, Any]:
    """For the page of a revision."""
    report = _read(revision.get("watch"))
    if report is None:
        return {"report": None}
    return {
        "report": report,
        "report_s": report.watch_s,
        "report_words": STATES[report.state],
        "report_tag": _TAGS.get(report.state, "tag-warn"),
        "report_cut_short": report.state in _CUT_SHORT,
        "report_rows": [
            *((one, False) for one in report.worsenings),
            *((one, True) for one in report.passing),
        ],
    }


def _read(found: Any) -> WatchReport | None:
    """Also None for a record that another version of the agent wrote."""
    try:
        return None if found is None else WatchReport.model_validate(found)
    except ValidationError:
        return None
