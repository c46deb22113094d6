"""``python -m lab up|down|status``, as root, from the root of the repository."""

import argparse
import fcntl
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab import accounts, dataplane_choice, readiness, state
from lab.build import Lab, Wanted
from lab.errors import LabConflict, LabError
from lab.kernel_settings import Register
from lab.layout import REPOSITORY, Layout
from lab.namespaces import LIVE_PREFIX
from lab.state import LabState
from lab.topology import Topology, remove_tree

_STATE_FILE = "state.json"


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    arguments = _parser().parse_args(argv)
    if os.geteuid() != 0:
        _say("the lab makes network namespaces: run it as root, or through sudo")
        return 1
    layout = Layout(arguments.directory.resolve())
    try:
        with _alone(layout):
            return int(arguments.run(arguments, layout))
    except LabError as error:
        _say(f"the lab: {error}")
        if layout.log.is_dir():
            _say(f"         every process has its log in {layout.log}")
        return 1


def _up(arguments: argparse.Namespace, layout: Layout) -> int:
    record = state.load(layout.directory / _STATE_FILE)
    wanted = _wanted(arguments, layout, record)
    lab = Lab(wanted, _say)
    _say(f"data plane: {wanted.dataplane}, because {wanted.reason}")
    if record is not None and not readiness.problems(lab.checks()):
        _say("the lab is up already")
    else:
        if record is None and wanted.dataplane == "vpp":
            dataplane_choice.ensure_vpp()
        lab.up()
    _write_environment(lab)
    _announce(lab)
    return 0


def _down(arguments: argparse.Namespace, layout: Layout) -> int:
    record = state.load(layout.directory / _STATE_FILE)
    prefix = arguments.prefix or LIVE_PREFIX
    if record is None:
        registered = Register().find(prefix)
        if registered is None or registered.directory != str(layout.directory):
            _say("there is no lab here")
            remove_tree(layout.lock_file)
            if not any(layout.directory.iterdir()):
                layout.directory.rmdir()
            return 0
        # The record was deleted while the lab ran: its namespaces and files are known by their names anyway.
        record = Topology(prefix, layout.directory, "vpp").presumed_state()
        state.save(layout.directory / _STATE_FILE, record)
    Lab(_recorded(layout, record), _say).down()
    _say("the lab is down")
    return 0


def _status(arguments: argparse.Namespace, layout: Layout) -> int:
    record = state.load(layout.directory / _STATE_FILE)
    if record is None:
        print(json.dumps({"exists": False}) if arguments.json else "there is no lab here")
        return 3
    lab = Lab(_recorded(layout, record), _say)
    problems = readiness.problems(lab.checks())
    states = lab.supervisor.states()
    if arguments.json:
        told = {"exists": True, "dataplane": record.dataplane, "processes": states, "problems": problems}
        print(json.dumps(told, indent=1))
    else:
        print(f"data plane {record.dataplane} ({record.dataplane_reason}), database {record.database}")
        for name, seen in sorted(states.items()):
            print(f"  {name:<16} {seen}")
        for name, seen in problems.items():
            print(f"  NOT READY: {name}: {seen}")
    return 1 if problems else 0


def _wanted(arguments: argparse.Namespace, layout: Layout, record: LabState | None) -> Wanted:
    """The requested lab, completed from an existing one where options were left open. Raises LabConflict."""
    if record is not None:
        recorded = _recorded(layout, record)
        asked = {
            "data plane": (None if arguments.dataplane == "auto" else arguments.dataplane, record.dataplane),
            "database": (arguments.database, record.database),
            "prefix": (arguments.prefix, record.prefix),
            "stage": (arguments.only, record.stage),
        }
        for what, (new, old) in asked.items():
            if new is not None and new != old:
                raise LabConflict(f"the lab that exists has {what} {old}, not {new}: `down` it first")
        return recorded
    choice = dataplane_choice.choose(arguments.dataplane or "auto")
    return Wanted(
        directory=layout.directory,
        prefix=arguments.prefix or LIVE_PREFIX,
        dataplane=choice.dataplane,
        reason=choice.reason,
        database=arguments.database or "sqlite",
        stage=arguments.only or "all",
        initial_commit=not arguments.empty,
    )


def _recorded(layout: Layout, record: LabState) -> Wanted:
    return Wanted(
        directory=layout.directory,
        prefix=record.prefix,
        dataplane=record.dataplane,
        reason=record.dataplane_reason,
        database=record.database,
        stage=record.stage,
        initial_commit=record.initial_commit,
    )


def _write_environment(lab: Lab) -> None:
    path = lab.layout.env_file
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text("".join(f"{key}={value}\n" for key, value in lab.environment().items()))
    os.chown(path, accounts.invoking().uid, -1)


def _announce(lab: Lab) -> None:
    """Print how to reach the lab on standard output, because that is the command's result."""
    values = lab.environment()
    if "BASE_URL" in values:
        print(f"\n  {values['BASE_URL']}/   user {values['USERNAME']}   password {values['PASSWORD']}\n")
        print(f"  The page's certificate is signed by {values['CA_FILE']}.")
        print(f"  All of this, and an API token, is in {lab.layout.env_file}.")
    else:
        print(f"  The lab's sockets are named in {lab.layout.env_file}.")


@contextmanager
def _alone(layout: Layout) -> Iterator[None]:
    """Only one command at a time works on a lab."""
    layout.directory.mkdir(mode=0o711, parents=True, exist_ok=True)
    with layout.lock_file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lab", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="start the lab, or repair it; then print how to reach it")
    up.add_argument("--dataplane", choices=("vpp", "linux", "auto"))
    up.add_argument("--database", choices=("sqlite", "postgres"))
    up.add_argument("--only", choices=("topology", "routing", "agent", "all"), help="how far to go")
    up.add_argument("--empty", action="store_true", help="commit no first document")
    up.set_defaults(run=_up)
    down = commands.add_parser("down", help="remove everything the lab made")
    down.set_defaults(run=_down)
    status = commands.add_parser("status", help="what runs and what is not ready (status 0, 1; 3: no lab)")
    status.add_argument("--json", action="store_true")
    status.set_defaults(run=_status)
    default = Path(os.environ.get("MILLRACE_LAB_DIR", REPOSITORY / ".lab"))
    for command in (up, down, status):
        command.add_argument(
            "--directory", type=Path, default=default, help="default: MILLRACE_LAB_DIR or .lab"
        )
        command.add_argument("--prefix", help="names the namespaces; default mr")
    return parser


if __name__ == "__main__":
    sys.exit(main())
