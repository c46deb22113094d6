"""Which slot runs, which one is trusted, and what each holds."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.engine import durable
from appliance.upgrade import grubenv
from appliance.upgrade.errors import UpgradeRefused
from appliance.upgrade.paths import Paths

Slot = Literal["a", "b"]
_SLOT = re.compile(r"(?:^|\s)millrace\.slot=([ab])(?:\s|$)")
_TRY = re.compile(r"(?:^|\s)millrace\.try=1(?:\s|$)")


class Content(BaseModel):
    """What is in a slot."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    version: str
    schema_version: int
    built_s: int | None = None
    """When its sources were committed, seconds since 1970; None where an older release recorded none."""
    whole: bool = True
    """False while it is written, or after writing it failed."""


Contents = dict[Slot, Content]


@dataclass(frozen=True)
class Slots:
    """The slots at this moment."""

    running: Slot
    good: Slot
    """What GRUB boots when nothing else is said."""
    tried: Slot | None
    """What GRUB boots next, once."""
    on_trial: bool
    """The running slot was booted once and is not trusted yet."""
    contents: Contents

    @property
    def other(self) -> Slot:
        """The slot that does not run."""
        return "b" if self.running == "a" else "a"


def running(command_line: str) -> Slot:
    """The slot that the kernel was started from. Raises UpgradeRefused on a machine without slots."""
    match = _SLOT.search(command_line)
    if match is None:
        raise UpgradeRefused("this router was not started from an image with two slots")
    return "a" if match[1] == "a" else "b"


def read(paths: Paths) -> Slots:
    """The slots of this router. Raises UpgradeRefused on a machine without slots."""
    try:
        command_line = paths.command_line.read_text()
    except OSError as error:
        raise UpgradeRefused(f"the kernel's command line cannot be read: {error}") from None
    runs = running(command_line)
    variables = grubenv.read(paths.environment_block)
    good, tried = _slot(variables.get("good")) or runs, _slot(variables.get("try"))
    on_trial = _TRY.search(command_line) is not None and good != runs
    return Slots(runs, good, tried, on_trial, read_contents(paths.contents))


def _slot(text: str | None) -> Slot | None:
    if text == "a":
        return "a"
    return "b" if text == "b" else None


def read_contents(path: Path) -> Contents:
    """What was recorded of the slots; empty when nothing was, or when it does not read."""
    try:
        recorded = json.loads(path.read_bytes())
        both: tuple[Slot, ...] = ("a", "b")
        return {
            slot: Content.model_validate(recorded[slot]) for slot in both if recorded.get(slot) is not None
        }
    except (OSError, ValueError, ValidationError, AttributeError):
        return {}


def write_contents(path: Path, contents: Contents) -> None:
    """Record what the slots hold, durably. Raises OSError."""
    durable.make_folder(path.parent, 0o700)
    durable.write_json(path, {slot: content.model_dump() for slot, content in contents.items()})


def show(paths: Paths, slots: Slots) -> None:
    """Write the slots where everybody may read them. Raises OSError."""
    shown = {
        "slot": slots.running,
        "good": slots.good,
        "trying": slots.on_trial,
        "versions": {"a": _version(slots.contents, "a"), "b": _version(slots.contents, "b")},
    }
    durable.write(paths.shown, json.dumps(shown).encode(), 0o644)


def _version(contents: Contents, slot: Slot) -> str | None:
    content = contents.get(slot)
    return content.version if content is not None and content.whole else None
