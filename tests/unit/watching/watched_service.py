"""A toy router that is watched, and a measure whose readings the test sets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

from appliance.config.document import RouterConfig
from appliance.engine.engine import Engine
from appliance.engine.foretold import TakenDown
from appliance.engine.own_path import Caller
from appliance.errors import RouterUnavailable
from appliance.health.check import Look
from appliance.health.checks import service as judge_service
from appliance.impact.result import Finding, Result
from appliance.state.watch import WatchReport
from appliance.watching.measure import Asked, Comparison, Measure, Reading, Worse
from appliance.watching.service_watch import ServiceWatch
from tests.unit.engine.toys import Router

TOLD = Finding(grade="certain", kind="session", path="/neighbors/peer", text="The session with peer closes.")


class Service:
    """The router's behavior, as the test defines it; it outlives any engine."""

    def __init__(self, toy: Router) -> None:
        self.toy = toy
        self.state = "up"
        self.away = False
        self.hangs: threading.Event | None = None
        """Readings wait for it."""
        self.wanted = True
        self.lasts_s: float | None = 5.0
        self.foretold = Result()
        self.engine: Engine
        self.watch: ServiceWatch
        self.start()

    def start(self) -> None:
        """As after a start of the agent."""
        self.engine = self.toy.engine()
        self.engine.recover()
        measure = Measure("sessions", "a session goes down", self._read, self._compare, str, lambda _: True)
        facade = cast(Any, SimpleNamespace(engine=self.engine, netns="none"))
        self.watch = ServiceWatch(facade, self._foretell, [measure], self.toy.clock)
        self.watch.take_up()

    def _foretell(
        self, _before: RouterConfig, _after: RouterConfig, _caller: Caller | None, down: TakenDown
    ) -> Result:
        down()
        return self.foretold

    def _read(self, _asked: Asked) -> Reading:
        if self.hangs is not None:
            self.hangs.wait()
        if self.away:
            raise RouterUnavailable("bgpd does not answer")
        return {"peer": self.state}

    def _compare(self, seen: Comparison[Reading]) -> Iterator[Worse]:
        if seen.before["peer"] == "up" and seen.now["peer"] != "up":
            yield Worse(
                "peer",
                "The session with peer is down.",
                "up",
                seen.now["peer"],
                "/neighbors/peer",
                asked_for=not self.wanted,
                lasts_s=self.lasts_s,
                kinds=("session",),
            )

    def wait(self, seconds: int) -> None:
        """Time passes second by second, as the agent experiences it."""
        for _ in range(seconds):
            self.toy.clock.wait(1)
            self.watch.tick()
            self.engine.tick()

    def report(self, revision: int) -> WatchReport:
        """The report that the revision holds."""
        return WatchReport.model_validate(self.engine.revision_details(revision)["watch"])


def alarms(service: Service) -> list[str]:
    """What the service's check raises now."""
    return [one.kind for one in judge_service(Look(service.watch.told(), service.engine.running_config))]
