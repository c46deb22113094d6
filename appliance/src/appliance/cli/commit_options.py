"""The options of ``commit`` and ``rollback``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appliance.cli.errors import CommandError
from appliance.cli.output import number
from appliance.config.problem_text import told_by_field
from appliance.state.commit_options import CommitOptions

COMMIT_OPTIONS = ("confirmed", "no-confirm", "watch", "no-watch", "comment")
ROLLBACK_OPTIONS = ("watch", "no-watch")
_SETS = {
    "confirmed": "the confirm timer",
    "no-confirm": "the confirm timer",
    "watch": "the watch",
    "no-watch": "the watch",
    "comment": "the comment",
}
"""What each word sets; it may be set only once."""
_WITH_VALUE = ("confirmed", "watch", "comment")


def commit_options(
    words: list[str], usage: str, who: Mapping[str, Any], known: tuple[str, ...] = COMMIT_OPTIONS
) -> CommitOptions:
    """The options in the words. Leading dashes are accepted: ``--watch 60``. ``who`` are ``author`` and
    ``caller_address``.

    Raises CommandError with the usage, and ValidationFailed.
    """
    given: dict[str, Any] = dict(who)
    rest, said = list(words), set[str]()
    while rest:
        word = rest.pop(0).removeprefix("--")
        if word not in known or (word in _WITH_VALUE and not rest):
            raise CommandError(usage)
        if _SETS[word] in said:
            raise CommandError(f"{word}: {_SETS[word]} is given twice")
        said.add(_SETS[word])
        if word == "confirmed":
            given["confirm_s"] = number(rest.pop(0), "confirmed")
        elif word == "watch":
            given["watch_s"] = number(rest.pop(0), "watch")
        elif word == "comment":
            given["comment"] = " ".join(rest)
            rest.clear()
        else:
            given["confirm_s" if word == "no-confirm" else "watch_s"] = 0
    with told_by_field():
        return CommitOptions.model_validate(given)
