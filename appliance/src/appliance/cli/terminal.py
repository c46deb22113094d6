"""The interactive terminal: prompt, history and completion around a session."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, InMemoryHistory

from appliance.actions import ACTIONS
from appliance.cli.completion import Choice, delete_choices, path_choices, set_choices
from appliance.cli.errors import CommandError
from appliance.cli.operational import SHOWS
from appliance.cli.session import HELP, Leave, Session
from appliance.cli.text import told
from appliance.cli.words import split_line
from appliance.errors import MillraceError

_PIPES = (
    ("json", "as JSON"),
    ("set", "as set commands"),
    ("match", "only lines with TEXT"),
    ("count", "the number of lines"),
    ("compare", "the candidate's changes"),
)
HISTORY = Path("~/.millrace_history")


def choices(session: Session, line: str) -> tuple[list[Choice], str]:
    """The completions of ``line``, and the incomplete word at its end."""
    try:
        words = split_line(line)
    except CommandError:
        return [], ""
    begun = words.pop() if words and not line.endswith((" ", "\t")) else ""
    return [choice for choice in _next(session, words) if choice[0].startswith(begun)], begun


def _next(session: Session, words: list[str]) -> list[Choice]:
    if words and words[-1] == "|":
        return list(_PIPES)
    if not words:
        return [(name, HELP[name].split("  ")[-1].strip()) for name in session.names()]
    if words == ["cancel"]:
        return [("commit", "a running or waiting commit")]
    candidate = session.candidate
    if candidate is None:
        if words == ["clear"]:
            return [(action.usage.split()[0], action.summary) for action in ACTIONS]
        return [(name, "") for name in SHOWS] if words == ["show"] else []
    below = words[1:]
    match words[0]:
        case "set":
            return set_choices(candidate.at, below, candidate.document)
        case "delete" | "show":
            return delete_choices(candidate.at, below, candidate.document)
        case "edit":
            return path_choices(candidate.at, below, candidate.document)
        case "commit" if not below:
            return [
                ("confirmed", "roll back unless confirmed in SECONDS"),
                ("no-confirm", "no confirm timer, even if this connection may be lost"),
                ("comment", "the reason for the commit"),
            ]
        case "update" if not below:
            return [
                ("ours", "where both changed, keep the candidate's values"),
                ("theirs", "where both changed, take the running values"),
            ]
        case "load" if not below:
            return [("changes", "the changes of a revision, as a merge")]
        case "load" if len(below) == 2:
            return [
                ("ours", "where both changed, keep the candidate's values"),
                ("theirs", "where both changed, take those of the revision"),
            ]
        case "run" if not below:
            return [("show", "")]
        case "run" if below == ["show"]:
            return [(name, "") for name in SHOWS]
    return []


class _Completer(Completer):
    def __init__(self, session: Session) -> None:
        self._session = session

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        del complete_event
        found, begun = choices(self._session, document.text_before_cursor)
        for word, about in found:
            shown = f'"{word}"' if " " in word else word
            yield Completion(shown, start_position=-len(begun), display_meta=about)


def prompt(session: Session, hostname: str) -> str:
    """``router> ``; in configure mode also the current level."""
    if session.candidate is None:
        return f"{hostname}> "
    return f"{hostname}[{' '.join(('edit', *session.candidate.at))}]# "


def may_forget(ask: Callable[[str], str], changes: int) -> bool:
    """Ask whether that many changes may be discarded. The default is no; end of input means yes."""
    these = "1 change" if changes == 1 else f"{changes} changes"
    while True:
        try:
            answer = ask(f"{these} not committed. Leave and discard? [yes,no] (no) ").strip().lower()
        except KeyboardInterrupt:
            return False
        except EOFError:
            return True
        if answer in ("", "n", "no"):
            return False
        if answer in ("y", "yes"):
            return True


def interact(session: Session, hostname: str) -> int:
    """Read lines until the user leaves. Errors are printed, and the session goes on."""
    try:
        history: FileHistory | InMemoryHistory = FileHistory(str(HISTORY.expanduser()))
    except (OSError, RuntimeError):
        history = InMemoryHistory()
    reader: PromptSession[str] = PromptSession(
        history=history, completer=_Completer(session), complete_while_typing=False
    )
    asker: PromptSession[str] = PromptSession(history=InMemoryHistory())
    session.may_forget = partial(may_forget, asker.prompt)
    while True:
        try:
            line = reader.prompt(prompt(session, hostname))
        except KeyboardInterrupt:
            continue
        except EOFError:
            candidate = session.candidate
            if candidate is None or not candidate.changed or session.may_forget(len(candidate.changes())):
                return 0
            continue
        try:
            if said := session.line(line):
                sys.stdout.write(said + "\n")
        except Leave:
            return 0
        except KeyboardInterrupt:
            continue
        except MillraceError as error:
            sys.stdout.write(f"% {told(error)}\n")
