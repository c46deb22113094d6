"""``python -m frr_config render|plan|apply|observe``: FRR configured from a file of routing."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from frr_config.client import FrrClient
from frr_config.config import FrrConfig, masked_diff
from frr_config.errors import FrrConfigError, FrrError, FrrUnavailable
from frr_config.planning import plan
from frr_config.rendering import render
from frr_config.routing import Routing
from frr_config.step import Step
from frr_config.version import FrrVersion

DONE, FAILED, BAD_INPUT, UNAVAILABLE, HAS_STEPS = 0, 1, 2, 3, 10
"""Exit codes; ``plan`` gives ``HAS_STEPS`` where there is something to do."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        if arguments.command == "render":
            return _render(arguments)
        client = FrrClient(arguments.vty_dir, arguments.config_dir)
        if arguments.command == "observe":
            return _observe(client, arguments)
        return _plan(client, arguments)
    except FrrUnavailable as error:
        return _complain(str(error), UNAVAILABLE)
    except (OSError, ValidationError, json.JSONDecodeError, FrrConfigError) as error:
        return _complain(str(error), BAD_INPUT)
    except FrrError as error:
        return _complain(str(error), FAILED)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m frr_config", description="Configure FRRouting from a file."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    described = {
        "render": "print the frr.conf of a file of routing, with its secrets",
        "plan": "show the steps from what runs to what the file says; exit code 10 where there are any",
        "apply": "carry out that plan and write frr.conf; nothing stays half done",
        "observe": "print what runs, secrets masked",
    }
    for name, text in described.items():
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--json", action="store_true", help="print JSON")
        if name != "observe":
            command.add_argument(
                "file", type=Path, metavar="FILE", help="JSON of the model frr_config.Routing"
            )
        if name == "render":
            command.add_argument("--version", default="8.4", help="release of FRR (default: 8.4)")
        else:
            command.add_argument(
                "--vty-dir", default="/var/run/frr", help="where the daemons' vty sockets are"
            )
            command.add_argument("--config-dir", default="/etc/frr", help="where frr.conf is")
    return parser


def _read(path: Path) -> Routing:
    return Routing.model_validate_json(path.read_text())


def _render(arguments: argparse.Namespace) -> int:
    config = render(_read(arguments.file), FrrVersion.parse(arguments.version))
    _say(json.dumps(config.to_json(), indent=2) if arguments.json else config.text().rstrip("\n"))
    return DONE


def _observe(client: FrrClient, arguments: argparse.Namespace) -> int:
    observed = client.observe()
    if arguments.json:
        lines = [[*context, text] for context, text in observed.masked_lines()]
        _say(json.dumps({"version": str(observed.version), "lines": lines}, indent=2))
    else:
        _say(observed.masked_text().rstrip("\n"))
    return DONE


def _plan(client: FrrClient, arguments: argparse.Namespace) -> int:
    desired, observed = render(_read(arguments.file), client.version()), client.observe()
    steps = plan(desired, observed)
    shown = [{"phase": s.phase, "summary": s.summary, "impact": s.impact, "path": s.path} for s in steps]
    diff = masked_diff(observed, desired)
    if arguments.json:
        _say(json.dumps({"steps": shown, "diff": diff}, indent=2))
    else:
        for step in steps:
            _say(step.summary if step.impact == "none" else f"{step.summary} ({step.impact})")
    if arguments.command == "plan":
        return HAS_STEPS if steps else DONE
    _apply(client, steps, desired)
    return DONE


def _apply(client: FrrClient, steps: Sequence[Step], desired: FrrConfig) -> None:
    done: list[Step] = []
    try:
        for step in steps:
            client.apply(step)
            done.append(step)
    except FrrError:
        for step in reversed(done):
            client.undo(step)
        raise
    left = plan(desired, client.observe())
    if left:
        raise FrrError(f"FRR did not take everything; still to do: {left[0].summary}")
    client.write_startup(desired)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _complain(text: str, code: int) -> int:
    sys.stderr.write(f"frr_config: {text}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
