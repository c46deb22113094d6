"""``python -m vpp_config``: observe, plan and apply against any VPP. See README.md for the file's format.

Exit codes: 0 done, or nothing to do; 1 a step was refused, and those before it were undone; 2 wrong usage,
or a file that cannot be used; 3 VPP does not answer; 10 (plan) there are steps to apply.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from vpp_config.client import VppClient
from vpp_config.errors import PlanError, StateFormatError, VppError, VppUnavailable
from vpp_config.papi_client import API_SOCKET, PapiClient
from vpp_config.plan import plan
from vpp_config.session import DEFAULT_PREFIX, Session
from vpp_config.state import VppState
from vpp_config.step import Step

DONE, FAILED, BAD_INPUT, UNAVAILABLE, STEPS = 0, 1, 2, 3, 10


def main(arguments: Sequence[str] | None = None, client: VppClient | None = None) -> int:
    """Run one command; returns the exit code."""
    options = _parser().parse_args(arguments)
    vpp = client if client is not None else PapiClient(options.socket, api_directory=options.api_directory)
    session = Session(vpp, options.prefix)
    try:
        if options.command == "observe":
            print(json.dumps(session.observe().to_json(), indent=2))
            return DONE
        desired = _read(options.file)
        steps = plan(desired, session.observe())
        if options.command == "plan":
            _show(steps, as_json=options.json)
            return STEPS if steps else DONE
        return _apply(session, desired, steps, as_json=options.json)
    except (StateFormatError, PlanError, OSError, json.JSONDecodeError) as error:
        print(f"{options.file or 'input'}: {error}", file=sys.stderr)
        return BAD_INPUT
    except VppUnavailable as error:
        print(error, file=sys.stderr)
        return UNAVAILABLE
    except VppError as error:
        print(error, file=sys.stderr)
        return FAILED
    finally:
        vpp.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m vpp_config", description=__doc__.partition("\n")[0])
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--socket", default=API_SOCKET, help=f"VPP's API socket ({API_SOCKET})")
    shared.add_argument("--api-directory", default=None, help="VPP's *.api.json files (/usr/share/vpp/api)")
    shared.add_argument(
        "--prefix", default=DEFAULT_PREFIX, help=f"tags of ours begin so ({DEFAULT_PREFIX!r})"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    observe = commands.add_parser("observe", parents=[shared], help="print what is configured, as JSON")
    observe.set_defaults(file=None)
    for name, text in (
        ("plan", "print the steps to the state in FILE"),
        ("apply", "apply the state in FILE"),
    ):
        command = commands.add_parser(name, parents=[shared], help=text)
        command.add_argument("file", metavar="FILE", help="a state in JSON; - for standard input")
        command.add_argument("--json", action="store_true", help="print the steps as JSON")
    return parser


def _read(file: str) -> VppState:
    text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    return VppState.from_json(json.loads(text))


def _show(steps: Sequence[Step], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([step.to_json() for step in steps], indent=2))
        return
    for step in steps:
        impact = "" if step.impact == "none" else f"  ({step.impact})"
        print(f"{step.phase:<7} {step.summary}{impact}")


def _apply(session: Session, desired: VppState, steps: Sequence[Step], *, as_json: bool) -> int:
    done: list[Step] = []
    for step in steps:
        try:
            session.apply(step)
        except VppError as error:
            print(f"failed: {step.summary}: {error}", file=sys.stderr)
            if isinstance(error, VppUnavailable):
                return UNAVAILABLE
            _undo(session, done)
            return FAILED
        done.append(step)
    _show(done, as_json=as_json)
    left = plan(desired, session.observe())
    if left:
        print("VPP does not hold what was applied; left to do:", file=sys.stderr)
        for step in left:
            print(f"  {step.summary}", file=sys.stderr)
        return FAILED
    return DONE


def _undo(session: Session, done: Sequence[Step]) -> None:
    for step in reversed(done):
        try:
            session.undo(step)
        except VppError as error:
            print(f"not undone: {step.undo_summary}: {error}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
