"""``millrace``: interactive, one command, or commands from a file.

    millrace                              interactive
    millrace show interfaces [--json]     one command
    millrace -c "configure; set system hostname r1; commit"
    millrace < commands                   one command a line; stops at the first error

Exit status: 0 done, 1 refused or failed, 2 not understood, 3 no agent.
"""

from __future__ import annotations

import argparse
import getpass
import os
import shlex
import sys
from collections.abc import Iterable, Sequence

from appliance.cli.errors import CommandError
from appliance.cli.session import Leave, Session
from appliance.cli.ssh import caller_address
from appliance.cli.text import told
from appliance.client import AgentClient
from appliance.errors import AgentUnavailable, MillraceError

SOCKET = "/run/millrace/agent.sock"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = _parser()
    options, words = parser.parse_known_args(arguments)
    as_json = options.json
    while "--json" in words:
        words.remove("--json")
        as_json = True
    if options.command is not None and words:
        parser.error(f"-c takes all commands as one argument: {' '.join(words)} would not be run")
    author = _author()
    agent = AgentClient(options.socket, command_line_of=author)
    session = Session(agent, author, as_json, caller_address())
    try:
        if options.command is not None:
            return _run(session, options.command.splitlines())
        if words:
            return _run(session, [shlex.join(words)])
        if sys.stdin.isatty():
            # prompt_toolkit is loaded only for a terminal.
            from appliance.cli.terminal import interact

            hostname = agent.config().document.get("system", {}).get("hostname", "millrace")
            return interact(session, str(hostname))
        return _run(session, sys.stdin)
    except AgentUnavailable as error:
        sys.stderr.write(f"{told(error)}\n")
        return 3
    finally:
        agent.close()


def _run(session: Session, lines: Iterable[str]) -> int:
    for line in lines:
        try:
            if said := session.line(line):
                sys.stdout.write(said + "\n")
        except Leave:
            return 0
        except AgentUnavailable:
            raise
        except MillraceError as error:
            sys.stderr.write(f"{told(error)}\n")
            return 2 if isinstance(error, CommandError) else 1
    if session.candidate is not None and session.candidate.changed:
        sys.stderr.write("the candidate was not committed; its changes are discarded\n")
        return 1
    return 0


def _author() -> str:
    try:
        return os.environ.get("SUDO_USER") or getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="millrace", description="The router's command line.", allow_abbrev=False, epilog=_EPILOG
    )
    parser.add_argument(
        "--socket", default=os.environ.get("MILLRACE_AGENT_SOCKET", SOCKET), help="the agent's socket"
    )
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    parser.add_argument("-c", dest="command", metavar="COMMANDS", help="commands, separated by ; or newlines")
    return parser


_EPILOG = "Without a command, millrace is interactive. `millrace help` lists the commands."

if __name__ == "__main__":
    sys.exit(main())
