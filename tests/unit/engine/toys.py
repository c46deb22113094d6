"""In-memory backends for the engine: a set of keys with values, changed one at a time.

The toy compiler reads a document's static routes into the inner backend, and its interfaces and access lists
into the outer one, so that real documents drive the engine without any data plane.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from appliance.engine import durable
from appliance.engine.backend import Backend, BackendUnavailable, Step, StepError
from appliance.engine.engine import Engine
from appliance.engine.records import CommitRequest, CommitResult
from appliance.engine.transaction import Patience
from appliance.state.commit_options import CommitOptions

PATIENCE = Patience(settle_s=0.2, restart_s=0.5)


class Killed(BaseException):
    """The process died here."""


@dataclass(frozen=True)
class ToyStep:
    """Bring one key from a value to another; None is absent."""

    phase: str
    key: str
    before: str | None
    after: str | None
    impact: str = "none"

    @property
    def summary(self) -> str:
        return f"set {self.key}" if self.after else f"remove {self.key}"

    @property
    def undo_summary(self) -> str:
        return f"put {self.key} back" if self.before else f"remove {self.key}"

    @property
    def path(self) -> str:
        return f"/{self.key}"


class Toy(Backend[Mapping[str, str], Mapping[str, str], ToyStep]):
    """A backend that is a dictionary. ``state`` is the live system."""

    name = ""
    generation = 0

    def __init__(self, name: str, down: str, up: str) -> None:
        self.name, self._down, self._up = name, down, up
        self.state: dict[str, str] = {}
        self.up = True
        self.refuses: str | None = None
        """Key whose steps fail."""
        self.undo_refuses = False
        self.forgets: str | None = None
        """Key whose steps do nothing, without an error."""
        self.log: list[str] = []

    def restart(self) -> None:
        """Lose everything, like a crashed process."""
        self.state.clear()
        self.generation += 1

    def observe(self) -> dict[str, str]:
        if not self.up:
            raise BackendUnavailable(self.name, "does not answer")
        return dict(self.state)

    def plan(self, desired: Mapping[str, str], observed: Mapping[str, str]) -> Sequence[ToyStep]:
        keys = sorted(desired.keys() | observed.keys())
        return [
            ToyStep(self._up if desired.get(key) else self._down, key, observed.get(key), desired.get(key))
            for key in keys
            if desired.get(key) != observed.get(key)
        ]

    def apply(self, step: ToyStep) -> None:
        if not self.up:
            raise BackendUnavailable(self.name, "does not answer")
        if step.key == self.refuses:
            raise StepError(f"{step.key} is refused")
        self.log.append(step.summary)
        if step.key != self.forgets:
            self._set(step.key, step.after)

    def undo(self, step: ToyStep) -> None:
        if not self.up:
            raise BackendUnavailable(self.name, "does not answer")
        if self.undo_refuses:
            raise StepError(f"{step.key} cannot be undone")
        self._set(step.key, step.before)

    def _set(self, key: str, value: str | None) -> None:
        if value is None:
            self.state.pop(key, None)
        else:
            self.state[key] = value


@dataclass
class ToyClock:
    """Clocks that a test moves."""

    now_s: float = 1_000_000.0
    """Unix time: set at will."""
    up_s: float = 1_000.0
    """Time since the boot: only increases."""
    boot_id: str = "first boot"

    def boot_s(self) -> float:
        return self.up_s

    def unix_s(self) -> float:
        return self.now_s

    def wait(self, seconds: float) -> None:
        """Advance the time."""
        self.now_s += seconds
        self.up_s += seconds

    def reboot(self) -> None:
        """The machine boots again at once."""
        self.up_s, self.boot_id = 5.0, f"{self.boot_id}, and another"


@dataclass
class Router:
    """Two toys, which outlive any engine, and the directory of its state."""

    directory: Path
    plane: Toy
    routing: Toy
    clock: ToyClock = field(default_factory=ToyClock)
    frr: str = ""
    """The release of FRR that the router is said to have."""

    def live(self) -> dict[str, dict[str, str]]:
        """The whole live system."""
        return {"linux": dict(self.plane.state), "frr": dict(self.routing.state)}

    def engine(self, hook: Callable[[int, Step], None] | None = None, *, interval_s: float = 3.0) -> Engine:
        """An engine on this router, as after a start of the agent; not yet recovered."""
        return Engine(
            (self.plane, self.routing),
            compile_toy,
            lambda: Capabilities(driver="linux", frr=self.frr),
            self.directory,
            step_hook=hook,
            clock=self.clock,
            patience=PATIENCE,
            interval_s=interval_s,
        )


def router(directory: Path) -> Router:
    """A router without any configuration."""
    return Router(directory, Toy("linux", "delete", "create"), Toy("frr", "withdraw", "announce"))


def compile_toy(config: RouterConfig) -> dict[str, dict[str, Any]]:
    """Desired state of both toys."""
    plane = {
        f"interface {name}": interface.model_dump_json() for name, interface in config.interfaces.items()
    }
    plane |= {f"acl {name}": acl.model_dump_json() for name, acl in config.acls.items()}
    routing = {f"route {prefix}": route.model_dump_json() for prefix, route in config.routing.static.items()}
    if config.routing.bgp is not None:
        for address, neighbor in config.routing.bgp.neighbors.items():
            password = neighbor.password.get_secret_value() if neighbor.password else ""
            routing[f"neighbor {address}"] = f"{neighbor.remote_asn} {password}"
    return {"linux": plane, "frr": routing}


def document(*routes: str, **parts: Any) -> dict[str, Any]:
    """A valid document with one loopback and these static routes."""
    return {
        "schema_version": 1,
        "interfaces": {"lo1": {"type": "loopback", "addresses": ["192.0.2.1/24"]}},
        "routing": {"static": {route: {"next_hops": [{"address": "192.0.2.2"}]} for route in routes}},
        **parts,
    }


def commit(
    engine: Engine, wanted: dict[str, Any], base_revision: int | None = None, **more: Any
) -> CommitResult:
    """Commit, and expect success."""
    result = engine.commit(CommitRequest(wanted, CommitOptions(author="alice", **more), base_revision))
    assert result.state == "done", result
    return result


CONFIRMED, UNCONFIRMED = document("198.51.100.0/24"), document("203.0.113.0/24")
UNCONFIRMED["interfaces"]["lo2"] = {"type": "loopback"}


def unconfirmed(toy: Router, confirm_s: float = 60) -> tuple[Engine, dict[str, dict[str, str]]]:
    """An engine whose revision 2 awaits confirmation, and the router as revision 1 had it."""
    engine = toy.engine()
    commit(engine, CONFIRMED)
    before = toy.live()
    commit(engine, UNCONFIRMED, confirm_s=confirm_s)
    assert toy.live() != before
    return engine, before


def pending_of(engine: Engine) -> dict[str, Any]:
    pending = engine.pending_confirm()
    assert pending is not None
    return pending


def dying(monkeypatch: pytest.MonkeyPatch, at: int) -> Callable[[], int]:
    """Die before the operation ``at`` of those that change the disk or the router; counts them."""
    count = 0

    def one() -> None:
        nonlocal count
        if count == at:
            raise Killed
        count += 1

    def dying_on(act: Callable[..., None]) -> Callable[..., None]:
        def act_or_die(*arguments: Any) -> None:
            one()
            act(*arguments)

        return act_or_die

    for name in ("write", "write_whole", "move", "sync", "remove", "forget"):
        monkeypatch.setattr(durable, name, dying_on(getattr(durable, name)))
    return lambda: count
