"""After each boot: whether the running slot is on trial, and passes; else the outcome of the last attempt."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from appliance.engine import durable
from appliance.errors import MillraceError
from appliance.upgrade import attempt as attempts
from appliance.upgrade import grubenv, health, release, slots
from appliance.upgrade.attempt import Attempt, Before
from appliance.upgrade.install import Machine
from appliance.upgrade.slots import Content, Slots

log = logging.getLogger(__name__)
SILENT = (
    "it did not say whether it was healthy: its kernel stopped, it did not start up, or the power was cut"
)


@dataclass(frozen=True)
class Patience:
    """How a trial waits."""

    interval_s: float = 5.0
    calm: int = 4
    """How many successive looks must be without a problem: a session may come up and fall again."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def decide(machine: Machine, patience: Patience | None = None) -> bool:
    """Record this boot's outcome; a slot on trial is kept, or left again by a reboot. True: it stays.

    Raises UpgradeRefused on a machine without slots, OSError.
    """
    paths = machine.paths
    found = _record_own(machine, slots.read(paths))
    slots.show(paths, found)
    last = attempts.read(paths.attempt)
    if not found.on_trial:
        if last is not None and last.outcome == "pending":
            _settle(machine, found, last)
        return True
    if found.tried is not None:
        # GRUB could not save that it has forgotten it: without this a return would come back here for ever.
        grubenv.change(paths.environment_block, **{"try": ""})
    mine = last if last is not None and last.slot == found.running and last.outcome == "pending" else None
    problems = _wait(machine, mine, patience or Patience())
    if problems:
        reason = "; ".join(problems[:10])
        log.error("slot %s is not healthy, back to %s: %s", found.running, found.good, reason)
        if mine is not None:
            attempts.write(paths.attempt, attempts.ended(mine, "returned", reason))
        machine.reboot()
        return False
    grubenv.change(paths.environment_block, good=found.running, **{"try": ""})
    log.info("slot %s is healthy and stays", found.running)
    try:
        durable.make_folder(paths.decided.parent)
        durable.write(paths.decided, b"")
        if mine is not None:
            attempts.write(paths.attempt, attempts.ended(mine, "kept"))
        slots.show(paths, replace(found, good=found.running, on_trial=False))
    except OSError as error:
        # It is already trusted: a record that cannot be written, on a full disk, is no reason to leave it.
        log.error("the record of the upgrade cannot be written: %s", error)
    return True


def _record_own(machine: Machine, found: Slots) -> Slots:
    """The running system is the content of the running slot."""
    runs = release.read(machine.paths.release)
    own = Content(version=runs.version, schema_version=runs.schema_version, built_s=runs.built_s)
    if found.contents.get(found.running) == own:
        return found
    contents = {**found.contents, found.running: own}
    slots.write_contents(machine.paths.contents, contents)
    return replace(found, contents=contents)


def _settle(machine: Machine, found: Slots, last: Attempt) -> None:
    """An attempt without an outcome: its slot runs and is trusted, or it never came so far."""
    paths = machine.paths
    if last.slot == found.running:
        attempts.write(paths.attempt, attempts.ended(last, "kept"))
    elif found.tried is None:
        log.error("slot %s was left again: %s", last.slot, SILENT)
        attempts.write(paths.attempt, attempts.ended(last, "returned", SILENT))


def _wait(machine: Machine, mine: Attempt | None, patience: Patience) -> list[str]:
    """What is still missing at the deadline; empty as soon as the router has been healthy for a while."""
    wanted = mine.before if mine is not None else Before()
    deadline = patience.clock() + (mine.deadline_s if mine is not None else attempts.DEADLINE_S)
    calm, problems = 0, ["nothing was seen yet"]
    while True:
        try:
            problems = health.missing(wanted, machine.observe())
        except MillraceError as error:
            problems = [str(error)]
        calm = 0 if problems else calm + 1
        if calm >= patience.calm:
            return []
        if patience.clock() >= deadline:
            return problems or ["it was healthy only for a moment"]
        log.info("on trial: %s", "; ".join(problems) or "well so far")
        patience.sleep(patience.interval_s)
