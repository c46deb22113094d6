"""``capture``: write packets to a file."""

from __future__ import annotations

import os
from typing import Any

from appliance.cli import text
from appliance.cli.errors import CommandError
from appliance.cli.output import Output
from appliance.cli.questions import fields, told_by_field
from appliance.client import AgentClient
from appliance.state.captures import CAPTURES, CaptureState, CaptureWanted

USAGE = (
    "capture start INTERFACE [in|out] [packets N] [seconds N] [bytes N] [snap BYTES] [filter WORDS...]"
    " | capture stop ID | capture remove ID | capture save ID FILE"
)
_SWITCHES = {word: {"direction": word} for word in ("in", "out")}
_VALUED = {"packets": "packets", "seconds": "seconds", "bytes": "size_bytes", "snap": "snap_bytes"}


def capture(agent: AgentClient, author: str, words: list[str]) -> Output:
    """Start, stop, remove or save a capture."""
    match words:
        case ["start", interface, *rest]:
            return _shown(agent.start_capture(_wanted(interface, rest), author=author))
        case ["stop", name]:
            return _shown(agent.stop_capture(name))
        case ["remove", name]:
            agent.remove_capture(name)
            return Output({"removed": name}, f"capture {name} is removed")
        case ["save", name, path]:
            return _save(agent, name, path)
    raise CommandError(USAGE)


def show_captures(agent: AgentClient, words: list[str]) -> Output:
    """Packet captures that are running or kept."""
    if words:
        raise CommandError(f"{words[0]!r} is not expected here")
    answer = agent.state(CAPTURES)
    rows = [
        {**one.model_dump(mode="json"), "interface": one.interface, "filter": one.filter or None}
        for one in answer.captures
    ]
    columns = (
        "id",
        "state",
        "interface",
        "filter",
        "packets",
        "size_bytes",
        "ran_s",
        "lost",
        "author",
        "ended",
    )
    return Output(answer.model_dump(mode="json")["captures"], text.table(rows, columns))


def _wanted(interface: str, words: list[str]) -> CaptureWanted:
    given: dict[str, Any] = {"interface": interface}
    if "filter" in words[:-1]:
        at = words.index("filter")
        given["filter"], words = " ".join(words[at + 1 :]), words[:at]
    given |= fields(words, _SWITCHES, _VALUED, usage=USAGE)
    with told_by_field():
        return CaptureWanted.model_validate(given)


def _save(agent: AgentClient, name: str, path: str) -> Output:
    """Save to a new file that only the user can read; an existing file is not replaced."""
    offset = 0
    data = agent.capture_part(name, offset)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            while data:
                stream.write(data)
                offset += len(data)
                data = agent.capture_part(name, offset)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from None
    return Output({"file": path, "bytes": offset}, f"{offset:,} bytes were written to {path}")


def _shown(state: CaptureState) -> Output:
    what = f"capture {state.id} on {state.interface}: {state.state}"
    if state.state == "running":
        said = f"{what}; `show captures` shows its progress, `capture stop {state.id}` stops it"
    else:
        said = f"{what}, {state.packets} packets, {state.ended}; `capture save {state.id} FILE` saves them"
    return Output(state.model_dump(mode="json"), "\n".join(filter(None, (said, state.note))))
