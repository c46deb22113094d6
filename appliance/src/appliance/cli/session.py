"""One user's session: its mode, and what a line does. It has no terminal and no prompt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from appliance.cli import bench, capture, clear, commits, operational, text, trace, update, upgrade
from appliance.cli.candidate import Candidate
from appliance.cli.commit_options import ROLLBACK_OPTIONS, commit_options
from appliance.cli.errors import CommandError
from appliance.cli.operational import SAME_AS, SHOWS
from appliance.cli.output import Output, number
from appliance.cli.words import split_line
from appliance.client import AgentClient
from appliance.client.answers import PlanAnswer
from appliance.config.set_commands import set_commands
from appliance.errors import MillraceError

OPERATIONAL = (
    *(
        "bench",
        "cancel",
        "capture",
        "clear",
        "configure",
        "confirm",
        "exit",
        "help",
        "keep",
    ),
    *("ping", "rollback", "show", "trace", "traceroute", "upgrade"),
)
CONFIGURE = (
    *("cancel", "check", "commit", "compare", "confirm", "delete", "discard", "edit", "exit", "help", "keep"),
    *("load", "ping", "rollback", "run", "set", "show", "top", "traceroute", "up", "update"),
)

ALIASES = {"conf": "configure", "quit": "exit"}
"""Habitual abbreviations and names that do not match exactly one command."""

HELP = {
    "bench": bench.USAGE,
    "cancel": commits.USAGE,
    "capture": capture.USAGE,
    "check": "check                         check the candidate, and show what a commit would do",
    "clear": clear.USAGE,
    "commit": "commit [confirmed SECONDS | no-confirm] [watch SECONDS | no-watch] [comment TEXT]",
    "compare": "compare                       show what the candidate changes",
    "configure": "configure                     change the configuration",
    "confirm": "confirm                       confirm a commit that has a confirm timer",
    "delete": "delete PATH [VALUE]",
    "discard": "discard                       discard the candidate's changes",
    "edit": "edit PATH                     move to this level; see up, top",
    "exit": "exit                          leave this mode",
    "help": "help",
    "keep": "keep                          keep the watched revision: it is not rolled back",
    "load": update.LOAD_USAGE,
    "ping": "ping DESTINATION [count N] [size BYTES] [source ADDRESS]",
    "rollback": "rollback N [watch SECONDS]    commit revision N again; in configure mode: load it",
    "run": "run COMMAND                   run a command of operational mode",
    "set": "set PATH VALUE [SETTING VALUE]...",
    "show": f"show {'|'.join(SHOWS)}   (in configure mode: the candidate)",
    "top": "top",
    "trace": trace.USAGE,
    "traceroute": "traceroute DESTINATION [source ADDRESS]",
    "up": "up",
    "update": update.USAGE,
    "upgrade": upgrade.USAGE,
}


class Leave(Exception):
    """The session ends."""


@dataclass(frozen=True)
class Pipe:
    """A filter after ``|``."""

    name: str
    argument: str = ""


class Session:
    """Takes lines and returns text. Holds the candidate while in ``configure`` mode.

    ``as_json`` makes every answer JSON. ``author`` is recorded with a commit. ``caller_address`` is the
    address from which the user came over ssh; None on the router's own console. ``may_forget`` is called
    before ``exit`` discards that many changes.
    """

    may_forget: Callable[[int], bool] = staticmethod(lambda _changes: True)

    def __init__(
        self, agent: AgentClient, author: str, as_json: bool = False, caller_address: str | None = None
    ) -> None:
        self.agent = agent
        self.author = author
        self.as_json = as_json
        self.caller_address = caller_address
        self.candidate: Candidate | None = None

    def line(self, line: str) -> str:
        """Run one line, which may hold several commands separated by ``;``. Returns the text to print.

        Raises CommandError, Leave, and the errors of the client.
        """
        said = []
        for words in _commands(split_line(line)):
            command, pipes = _pipes(words)
            if command:
                said.append(self._render(self._command(command, pipes), pipes))
        return "\n".join(part for part in said if part)

    def names(self) -> tuple[str, ...]:
        """The commands of the current mode."""
        return OPERATIONAL if self.candidate is None else CONFIGURE

    def _command(self, words: list[str], pipes: list[Pipe]) -> Output:
        name = self._full(words[0])
        rest = words[1:]
        if name == "show" and self.candidate is not None:
            if any(pipe.name == "compare" for pipe in pipes):
                return self._compare([])
            return self._show_candidate(rest)
        return self._handlers()[name](rest)

    def _full(self, word: str) -> str:
        """The command that the word abbreviates. Raises CommandError if it is not exactly one."""
        names = self.names()
        word = ALIASES.get(word, word)
        if word in names:
            return word
        found = [name for name in names if name.startswith(word)]
        if len(found) == 1:
            return found[0]
        if found:
            raise CommandError(f"{word!r} is ambiguous: {', '.join(found)}")
        raise CommandError(f"there is no command {word!r}: help lists the commands")

    def _handlers(self) -> dict[str, Callable[[list[str]], Output]]:
        return {
            "bench": lambda words: bench.bench(self.agent, self.author, words),
            "cancel": lambda words: commits.cancel(self.agent, self.author, words),
            "capture": lambda words: capture.capture(self.agent, self.author, words),
            "check": self._check,
            "clear": lambda words: clear.clear(self.agent, self.author, words),
            "commit": self._commit,
            "compare": self._compare,
            "configure": self._configure,
            "confirm": self._confirm,
            "delete": self._delete,
            "discard": self._discard,
            "edit": self._edit,
            "exit": self._exit,
            "help": self._help,
            "keep": self._keep,
            "load": lambda words: update.load(self.agent, self._here(), words),
            "ping": lambda words: operational.ping(self.agent, words),
            "rollback": self._rollback,
            "run": self._run,
            "set": self._set,
            "show": self._show,
            "top": self._top,
            "trace": lambda words: trace.trace(self.agent, self.author, words),
            "traceroute": lambda words: operational.traceroute(self.agent, words),
            "up": self._up,
            "update": self._update,
            "upgrade": lambda words: upgrade.upgrade(self.agent, self.author, words),
        }

    # Both modes.

    def _show(self, words: list[str]) -> Output:
        if not words:
            raise CommandError(f"show what? {', '.join(SHOWS)}")
        wanted = SAME_AS.get(words[0], words[0])
        found = [name for name in SHOWS if name == wanted] or [
            name for name in SHOWS if name.startswith(wanted)
        ]
        if len(found) != 1:
            hint = f"ambiguous: {', '.join(found)}" if found else f"there is no command show {words[0]}"
            raise CommandError(hint)
        return SHOWS[found[0]](self.agent, words[1:])

    def _help(self, words: list[str]) -> Output:
        wanted = [self._full(word) for word in words] or self.names()
        lines = {name: HELP[name] for name in wanted}
        return Output(lines, "\n".join(lines.values()))

    def _confirm(self, words: list[str]) -> Output:
        _nothing(words, "confirm")
        answer = dict(self.agent.confirm(self.author))
        return Output(answer, f"confirmed revision {answer.get('revision', '')}".rstrip())

    def _keep(self, words: list[str]) -> Output:
        _nothing(words, "keep")
        answer = dict(self.agent.keep(self.author))
        return Output(answer, f"revision {answer['revision']} stays, whatever its watch sees")

    def _exit(self, words: list[str]) -> Output:
        _nothing(words, "exit")
        if self.candidate is None:
            raise Leave
        if self.candidate.at:
            self.candidate.at = ()
            return Output(None, "")
        if self.candidate.changed and not self.may_forget(len(self.candidate.changes())):
            return Output(None, "")
        changed = self.candidate.changed
        self.candidate = None
        return Output(None, "the candidate's changes are discarded" if changed else "")

    def _rollback(self, words: list[str]) -> Output:
        if not words:
            raise CommandError("rollback to which revision?")
        revision = number(words[0], "revision")
        if self.candidate is None:
            options = commit_options(words[1:], HELP["rollback"], self._who(), ROLLBACK_OPTIONS)
            with commits.telling() as progress:
                return commits.committed(self.agent.rollback(revision, options, progress=progress))
        _nothing(words[1:], "rollback N in configure mode")
        self.candidate.load(dict(self.agent.revision(revision)["document"]))
        return Output({"candidate": revision}, f"the candidate is revision {revision}: commit applies it")

    def _who(self) -> dict[str, str | None]:
        return {"author": self.author, "caller_address": self.caller_address}

    # Configure mode.

    def _here(self) -> Candidate:
        if self.candidate is None:
            raise CommandError("only in configure mode")
        return self.candidate

    def _configure(self, words: list[str]) -> Output:
        _nothing(words, "configure")
        running = self.agent.config()
        self.candidate = Candidate(running.document, running.revision)
        return Output({"revision": running.revision}, "")

    def _set(self, words: list[str]) -> Output:
        self._here().set(words)
        return Output(None, "")

    def _delete(self, words: list[str]) -> Output:
        self._here().delete(words)
        return Output(None, "")

    def _edit(self, words: list[str]) -> Output:
        self._here().edit(words)
        return Output(None, "")

    def _up(self, words: list[str]) -> Output:
        _nothing(words, "up")
        self._here().at = self._here().at[:-1]
        return Output(None, "")

    def _top(self, words: list[str]) -> Output:
        _nothing(words, "top")
        self._here().at = ()
        return Output(None, "")

    def _update(self, words: list[str]) -> Output:
        return update.update(self.agent, self._here(), words)

    def _discard(self, words: list[str]) -> Output:
        _nothing(words, "discard")
        self._here().discard()
        return Output(None, "")

    def _run(self, words: list[str]) -> Output:
        if not words or words[0] not in OPERATIONAL or words[0] in ("configure", "exit"):
            raise CommandError("run which command of operational mode?")
        candidate, self.candidate = self.candidate, None
        try:
            return self._command(words, [])
        finally:
            self.candidate = candidate

    def _show_candidate(self, words: list[str]) -> Output:
        here = self._here()
        shown = here.shown(words)
        return Output(shown, text.tree(shown), (*here.at, *words))

    def _compare(self, words: list[str]) -> Output:
        _nothing(words, "compare")
        changes = self._here().changes()
        return Output([vars(change) for change in changes], text.changes(changes) or "no changes")

    def _check(self, words: list[str]) -> Output:
        _nothing(words, "check")
        problems = self.agent.validate(self._here().document)
        data: dict[str, Any] = {"problems": [vars(problem) for problem in problems], "plan": None}
        lines = [f"{problem.pointer or '/'}: {text.clean(problem.message)}" for problem in problems]
        if not problems:
            lines = ["no problems: the candidate can be committed"]
            if self._here().changed:
                foretold, more = self._foretold()
                data.update(foretold)
                lines += more
        return Output(data, "\n".join(lines))

    def _foretold(self) -> tuple[dict[str, Any], list[str]]:
        """What a commit does, and whether it may cut off this ssh session: as data, and as text."""
        try:
            plan = self.agent.plan(self._here().document, self.caller_address)
        except MillraceError as error:
            return {"plan_error": str(error)}, [f"what a commit does is unknown: {text.clean(str(error))}"]
        return {"plan": dict(plan)}, [*text.findings(plan), *_own_path(plan)]

    def _commit(self, words: list[str]) -> Output:
        candidate = self._here()
        options = commit_options(words, HELP["commit"], self._who())
        with update.offered(self.agent, candidate), commits.telling() as progress:
            answer = self.agent.commit(
                candidate.document, options, base_revision=candidate.revision, progress=progress
            )
        at = candidate.at
        running = self.agent.config()
        self.candidate = Candidate(running.document, running.revision)
        self.candidate.at = at
        return commits.committed(answer)

    def _render(self, output: Output, pipes: list[Pipe]) -> str:
        as_json = self.as_json or any(pipe.name == "json" for pipe in pipes)
        if any(pipe.name == "set" for pipe in pipes):
            if output.at is None:
                raise CommandError("| set works only for the configuration: show config | set")
            shown = "\n".join(map(text.clean, set_commands(output.data, output.at)))
        elif as_json:
            shown = text.as_json(output.data) if output.data is not None else ""
        else:
            shown = output.shown
        for pipe in pipes:
            if pipe.name == "match":
                shown = "\n".join(line for line in shown.splitlines() if pipe.argument in line)
            elif pipe.name == "count":
                shown = str(len(shown.splitlines()))
        return shown


def _commands(words: list[str]) -> list[list[str]]:
    commands: list[list[str]] = [[]]
    for word in words:
        if word == ";":
            commands.append([])
        else:
            commands[-1].append(word)
    return commands


def _pipes(words: list[str]) -> tuple[list[str], list[Pipe]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            parts.append([])
        else:
            parts[-1].append(word)
    pipes = []
    for part in parts[1:]:
        if part in (["json"], ["count"], ["compare"], ["set"]):
            pipes.append(Pipe(part[0]))
        elif part == ["display", "set"]:
            pipes.append(Pipe("set"))
        elif len(part) == 2 and part[0] == "match":
            pipes.append(Pipe("match", part[1]))
        else:
            raise CommandError("after | use json, set, compare, count, or match TEXT")
    return parts[0], pipes


def _own_path(plan: PlanAnswer) -> list[str]:
    reasons = [text.clean(reason) for reason in plan.get("own_path", ())]
    if not reasons:
        return []
    return [
        f"it is rolled back after {plan['confirm_default_s']:.0f} seconds unless confirmed, "
        f"because {'; '.join(reasons)}"
    ]


def _nothing(words: list[str], name: str) -> None:
    if words:
        raise CommandError(f"{name} takes no arguments")
