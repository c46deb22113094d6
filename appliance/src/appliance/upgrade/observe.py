"""The facts of the live router, from its agent and from systemd."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from appliance.client import AgentClient
from appliance.errors import NotFound, RouterUnavailable
from appliance.service_manager import ServiceManager
from appliance.state import Answer
from appliance.state.bgp import BGP, BgpState
from appliance.state.interfaces import INTERFACES
from appliance.state.ospf import OSPF, OspfState
from appliance.upgrade import health
from appliance.upgrade.health import Facts

A = TypeVar("A", bound=Answer)
_ANSWER_S = 20.0


def observe(socket: Path, services: ServiceManager) -> Facts:
    """What works now. Raises what the agent's client raises, ServiceError."""
    agent = AgentClient(socket, timeout_s=_ANSWER_S)
    try:
        return health.facts(
            agent.status(),
            agent.state(INTERFACES),
            _or_nothing(lambda: agent.state(BGP), BgpState()),
            _or_nothing(lambda: agent.state(OSPF), OspfState()),
            {name: services.status(name) for name in health.SERVICES},
        )
    finally:
        agent.close()


def _or_nothing(ask: Callable[[], A], nothing: A) -> A:
    """A routing daemon that does not run has no sessions; the agent's health says whether it should run."""
    try:
        return ask()
    except (NotFound, RouterUnavailable):
        return nothing
