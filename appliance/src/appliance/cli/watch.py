"""What happened after a commit, compared with what was foretold."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.cli import text
from appliance.cli.errors import CommandError
from appliance.cli.output import Output, number
from appliance.client import AgentClient
from appliance.state.watch import STATES, WatchReport


def show_watch(agent: AgentClient, words: list[str]) -> Output:
    """The watch after the last commit or after a given one, or its rules: ``watch [REVISION | rules]``."""
    if len(words) > 1:
        raise CommandError("show watch [REVISION | rules]")
    if words == ["rules"]:
        rules = agent.watch_rules()
        return Output(rules, "\n".join(text.clean(f"{name}: {rule}") for name, rule in rules.items()))
    revision = number(words[0], "revision") if words else agent.status().revision
    found = agent.revision(revision).get("watch")
    if found is None:
        return Output(None, f"revision {revision} was not watched, or its report is no longer kept")
    report = WatchReport.model_validate(found)
    return Output(report.model_dump(mode="json"), "\n".join(_lines(report)))


def watch_lines(report: WatchReport) -> list[str]:
    """A note, shown at the start of a session, while a commit is watched that may roll back automatically."""
    return [f"NOTE: {_headline(report)}"] if report.rolls_back else []


def _headline(report: WatchReport) -> str:
    said = f"revision {report.revision}: {STATES[report.state]}"
    if report.state == "watching":
        said += f" for {report.left_s:.0f} more seconds"
        said += "; it rolls back automatically if sessions or traffic get worse" if report.rolls_back else ""
    if report.rolled_back_to is not None:
        said += f"; revision {report.rolled_back_to} is back"
    if report.as_before_since is not None:
        said += f"; as before again since {report.as_before_since}"
    return f"{said} ({text.clean(report.note)})" if report.note else said


def _lines(report: WatchReport) -> Iterator[str]:
    yield _headline(report)
    yield f"before, in revision {report.compared_with}, and after:"
    yield text.table([one.model_dump() for one in report.measured], ("name", "before", "after"))
    for title, rows in (("worse", report.worsenings), ("worse for a while", report.passing)):
        for one in rows:
            how = "asked for" if one.asked_for else _FORETOLD[one.foretold]
            yield text.clean(f"{title} ({how}): {one.text} {_change(one.before, one.after)}".rstrip())
    for sentence in report.not_seen:
        yield f"foretold as certain, and not seen: {text.clean(sentence)}"
    for name, reason in report.not_compared.items():
        yield f"not compared: {text.clean(name)}: {text.clean(reason)}"


def _change(before: str, after: str) -> str:
    return f"[{before} -> {after}]" if before or after else ""


_FORETOLD = {
    "certain": "foretold as certain",
    "possible": "foretold as possible",
    "no": "not foretold",
    "unknown": "the impact was not analysed",
}
