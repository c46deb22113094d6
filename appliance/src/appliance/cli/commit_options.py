"""The options of ``commit`` and ``rollback``."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.cli.errors import CommandError
from appliance.cli.output import number

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


@dataclass
class CommitOptions:
    """The options of ``commit`` or ``rollback``."""

    confirm_s: float | None = None
    watch_s: float | None = None
    comment: str = ""


def commit_options(words: list[str], usage: str, known: tuple[str, ...] = COMMIT_OPTIONS) -> CommitOptions:
    """Leading dashes are accepted: ``--watch 60``. Raises CommandError with the usage."""
    options = CommitOptions()
    rest, said = list(words), set[str]()
    while rest:
        word = rest.pop(0).removeprefix("--")
        if word not in known or (word in _WITH_VALUE and not rest):
            raise CommandError(usage)
        if _SETS[word] in said:
            raise CommandError(f"{word}: {_SETS[word]} is given twice")
        said.add(_SETS[word])
        if word == "confirmed":
            options.confirm_s = float(number(rest.pop(0), "confirmed"))
        elif word == "watch":
            options.watch_s = float(number(rest.pop(0), "watch"))
        elif word == "comment":
            options.comment = " ".join(rest)
            rest.clear()
        elif word == "no-confirm":
            options.confirm_s = 0.0
        else:
            options.watch_s = 0.0
    return options
