"""The facts of the live router, asked of its agent and of systemd."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from appliance.client import AgentClient
from appliance.client.answers import Answer
from appliance.errors import NotFound, RouterUnavailable
from appliance.service_manager import ServiceManager
from appliance.upgrade import health
from appliance.upgrade.health import Facts

_ANSWER_S = 20.0


def observe(socket: Path, services: ServiceManager) -> Facts:
    """What works now. Raises what the agent's client raises, ServiceError."""
    agent = AgentClient(socket, timeout_s=_ANSWER_S)
    try:
        return health.facts(
            agent.status(),
            agent.state_interfaces()["interfaces"],
            _or_nothing(agent.state_bgp),
            _or_nothing(agent.state_ospf),
            {name: services.status(name) for name in health.SERVICES},
        )
    finally:
        agent.close()


def _or_nothing(ask: Callable[[], Answer]) -> Answer:
    """A routing daemon that does not run has no sessions; that it should run is the agent's health to say."""
    try:
        return ask()
    except (NotFound, RouterUnavailable):
        return Answer()
