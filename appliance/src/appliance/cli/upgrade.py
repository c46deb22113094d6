"""``upgrade``: send an upgrade file, have it installed and booted, and show the progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from appliance.cli import text
from appliance.cli.errors import CommandError
from appliance.cli.output import Output
from appliance.client import AgentClient
from appliance.errors import AgentUnavailable

USAGE = "upgrade FILE [no-reboot] [allow-downgrade]      or: upgrade switch [allow-downgrade]"
_OPTIONS = {"no-reboot", "allow-downgrade"}
_PART_BYTES = 8 << 20
_LOOK_S = 1.0
_ENDS = {"ready", "rebooting", "failed"}
Say = Callable[[str], None]


def upgrade(agent: AgentClient, author: str, words: list[str], say: Say | None = None) -> Output:
    """Upgrade from a file, or switch to the other slot as it is. Returns when the router reboots or is ready.

    Raises CommandError and the errors of the client.
    """
    say = say or _say
    options = [word.removeprefix("--") for word in words[1:]]
    if words[:1] == ["switch"] and options in ([], ["allow-downgrade"]):
        agent.switch_slot(author=author, allow_downgrade=bool(options))
        return _watch(agent, say)
    if not words or len(set(options)) != len(options) or not _OPTIONS.issuperset(options):
        raise CommandError(USAGE)
    _send(agent, Path(words[0]).expanduser(), say)
    agent.install_upgrade(
        author=author, reboot="no-reboot" not in options, allow_downgrade="allow-downgrade" in options
    )
    return _watch(agent, say)


def _send(agent: AgentClient, path: Path, say: Say) -> None:
    try:
        with path.open("rb") as stream:
            size = path.stat().st_size
            if size == 0:
                raise CommandError(f"{path} is empty")
            _send_parts(agent, stream, size, say)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror or error}") from None


def _send_parts(agent: AgentClient, stream: IO[bytes], size: int, say: Say) -> None:
    sent, told = 0, False
    while data := stream.read(_PART_BYTES):
        answer = agent.upgrade_part(data, sent, size)
        sent += len(data)
        if (manifest := answer.get("manifest")) and not told:
            told = True
            say(f"version {text.clean(str(manifest['version']))}, signature valid\n")
            if manifest.get("older"):
                say("WARNING: this version is older than the running one; only allow-downgrade installs it\n")
        say(f"\rsending {100 * sent // size} %")
    say("\n")


def _watch(agent: AgentClient, say: Say) -> Output:
    """Show progress until the router reboots, is ready, or has failed."""
    shown = ""
    while True:
        try:
            now: dict[str, Any] = dict(agent.upgrade().get("progress") or {})
        except AgentUnavailable:
            # Only a reboot ends the agent here.
            now = {"state": "rebooting", "percent": 100, "detail": "the agent has ended"}
        state = str(now.get("state", "starting"))
        line = f"{state} {now.get('percent', 0)} % {text.clean(str(now.get('detail', '')))}"
        if line != shown:
            say(f"\r{line:<70}")
            shown = line
        if state in _ENDS:
            say("\n")
            break
        time.sleep(_LOOK_S)
    if state == "failed":
        raise CommandError(f"the upgrade failed: {text.clean(str(now['detail']))}")
    if state == "ready":
        return Output(now, "the other slot is written; `upgrade switch` boots it")
    return Output(now, "the router reboots; `show upgrade` shows afterwards whether the version was kept")


def _say(said: str) -> None:
    sys.stderr.write(said)
    sys.stderr.flush()
