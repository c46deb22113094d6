"""What is done to the router while somebody works on it: processes, the disk, the clock, files.

A fault begins, and ends when it is taken back; between the two a second or so goes by, or, where it
``lasts``, the whole operation. ``lossless`` ones must not cost a single packet. ``steady`` ones leave the
agent alive, so that what it promises of timers holds all the while.
"""

from __future__ import annotations

import errno
import random
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lab.errors import LabError
from lab.frr_daemons import DAEMONS
from lab.supervision import Supervisor
from tests.lab_support.shifted_clock import ShiftedClock
from tests.live_lab import LiveLab
from tests.soak import damage, processes

When = Literal["during", "before", "after"]

_FORWARDING = ("vpp", *DAEMONS)
_FEEDER = "feeder"
"""VPP forwards on without it; a commit that takes an interface away waits for it, and fails."""
_WEB_HALF = ("web", "web-server", "web-worker", "web-scheduler", "postgres", "redis")
_JUMP_S = 3600
_BALLAST = "ballast"
_CHUNK = bytes(64 * 1024)


@dataclass(frozen=True)
class Fault:
    """One kind of trouble."""

    name: str
    begin: Callable[[LiveLab, random.Random], str]
    """Cause the fault; returns what exactly was done."""
    end: Callable[[LiveLab], None] = lambda _live: None
    needs: str = ""
    """The program without which the fault makes no sense."""
    lossless: bool = False
    steady: bool = False
    lasts: bool = False
    harms_history: bool = False
    """Any earlier revision may run afterwards."""
    when: tuple[When, ...] = ("during", "during", "before")


def catalogue() -> dict[str, Fault]:
    """Every fault by name."""
    found = [Fault("nothing", lambda _live, _rng: "nothing", lossless=True, steady=True)]
    for name in ("agent", *_WEB_HALF, *_FORWARDING, _FEEDER):
        lossless, steady = name not in _FORWARDING, name in _WEB_HALF
        found += [
            Fault(f"kill-{name}", _killer(name), needs=name, lossless=lossless, steady=steady),
            Fault(f"stop-{name}", _stopper(name), _continue, needs=name, lossless=lossless, steady=steady),
        ]
    found += [
        Fault("kill-agent-twice", _kill_twice, lossless=True),
        Fault("kill-frr", _killer(*DAEMONS)),
        Fault("kill-router", _killer("agent", "web", _FEEDER, *_FORWARDING)),
        Fault("disk-full", fill, free, lossless=True, steady=True, lasts=True),
        Fault("disk-full-restart", _fill_and_kill, free, lossless=True, lasts=True),
        Fault("clock-forward", _jumper(_JUMP_S), _clock_right, lossless=True, steady=True, lasts=True),
        Fault("clock-back", _jumper(-_JUMP_S), _clock_right, lossless=True, steady=True, lasts=True),
    ]
    for kind in damage.KINDS:
        harms = kind in damage.HARM_HISTORY
        strike = _damager(kind)
        found.append(Fault(f"damage-{kind}", strike, harms_history=harms, when=("after",)))
    return {fault.name: fault for fault in found}


def heal(live: LiveLab) -> None:
    """Take back whatever any fault may have left."""
    _continue(live)
    free(live)
    _clock_right(live)


def _killer(*names: str) -> Callable[[LiveLab, random.Random], str]:
    def kill(live: LiveLab, _rng: random.Random) -> str:
        running = processes.programs(live)
        for name in names:
            processes.send(running.get(name, 0), signal.SIGKILL)
        return f"kill -9 {', '.join(name for name in names if name in running)}"

    return kill


def _stopper(name: str) -> Callable[[LiveLab, random.Random], str]:
    def stop(live: LiveLab, _rng: random.Random) -> str:
        for pid in processes.family(live, name, processes.programs(live).get(name, 0)):
            processes.send(pid, signal.SIGSTOP)
        return f"SIGSTOP {name}"

    return stop


def _continue(live: LiveLab) -> None:
    for name, pid in processes.programs(live).items():
        for member in processes.family(live, name, pid):
            processes.send(member, signal.SIGCONT)


def _kill_twice(live: LiveLab, rng: random.Random) -> str:
    """Once in the operation, once again while it recovers from that."""
    first = processes.programs(live).get("agent", 0)
    processes.send(first, signal.SIGKILL)
    supervisor = Supervisor(live.directory)
    while (second := supervisor.pid("agent")) in (0, first):
        pass  # supervisord starts it at once
    processes.pause(rng.uniform(0.5, 3.0))
    processes.send(second, signal.SIGKILL)
    return "kill -9 agent, and again while it starts"


def fill(live: LiveLab, _rng: random.Random) -> str:
    """Leave no byte on the file system of the agent's state."""
    with (live.directory / "agent" / _BALLAST).open("ab", buffering=0) as ballast:
        size = len(_CHUNK)
        while size:
            try:
                ballast.write(_CHUNK[:size])
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                size //= 2
    return "the disk of the agent's state is full"


def free(live: LiveLab) -> None:
    """Give the space back."""
    (live.directory / "agent" / _BALLAST).unlink(missing_ok=True)


def _fill_and_kill(live: LiveLab, rng: random.Random) -> str:
    return f"{fill(live, rng)}; {_killer('agent')(live, rng)}"


def _jumper(seconds: int) -> Callable[[LiveLab, random.Random], str]:
    def jump(live: LiveLab, _rng: random.Random) -> str:
        ShiftedClock(live.directory).shift(seconds)
        return f"the clock jumps by {seconds:+} s"

    return jump


def _clock_right(live: LiveLab) -> None:
    ShiftedClock(live.directory).shift(0)


def _damager(kind: str) -> Callable[[LiveLab, random.Random], str]:
    def strike(live: LiveLab, rng: random.Random) -> str:
        """As a cut of power leaves it: the agent is not there, and comes back."""
        supervisor = Supervisor(live.directory)
        supervisor.stop_program("agent")
        done = damage.inflict(kind, Path(live.directory / "agent"), rng)
        try:
            supervisor.start_program("agent")
        except LabError:
            supervisor.start_program_later("agent")  # it ended within a second; supervisord goes on trying
        return done

    return strike
