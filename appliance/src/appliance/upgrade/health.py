"""Whether the router is as healthy as before: the facts that count, and those not met. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from appliance.state.bgp import BgpState
from appliance.state.interfaces import Interfaces
from appliance.state.ospf import OspfState
from appliance.upgrade.attempt import Before

SERVICES = ("millrace-agent", "ssh", "nginx", "millrace-web")
"""Without the last three nobody could manage the router."""


@dataclass(frozen=True)
class Facts:
    """The state of the router at one moment."""

    revision: int
    drift: tuple[str, ...] = ()
    awaits_confirmation: bool = False
    """A commit is rolled back unless somebody confirms it."""
    down: Mapping[str, str] = field(default_factory=dict)
    """Backend name to its problem."""
    links_up: frozenset[str] = frozenset()
    bgp_established: frozenset[str] = frozenset()
    ospf_full: frozenset[str] = frozenset()
    services: Mapping[str, str] = field(default_factory=dict)
    """Service to its state, ``running`` when it does."""


def facts(
    status: Mapping[str, Any],
    interfaces: Interfaces,
    bgp: BgpState,
    ospf: OspfState,
    services: Mapping[str, str],
) -> Facts:
    """From the agent's answers."""
    return Facts(
        revision=int(status["revision"]),
        drift=tuple(status["drift"]),
        awaits_confirmation=status.get("pending_confirm") is not None,
        down={
            name: str(part.get("detail", ""))
            for name, part in status["health"].items()
            if part.get("state") != "up"
        },
        links_up=frozenset(row.name for row in interfaces.interfaces if row.link == "up"),
        bgp_established=frozenset(
            address for address, row in bgp.neighbors.items() if row.state.lower() == "established"
        ),
        ospf_full=frozenset(
            f"{row.router_id} on {row.interface}"
            for row in ospf.neighbors
            if row.state.lower().startswith("full")
        ),
        services=dict(services),
    )


def before(seen: Facts) -> Before:
    """What has to work again."""
    return Before(
        revision=seen.revision,
        down=tuple(sorted(seen.down)),
        drift=seen.drift,
        links_up=tuple(sorted(seen.links_up)),
        bgp_established=tuple(sorted(seen.bgp_established)),
        ospf_full=tuple(sorted(seen.ospf_full)),
    )


def missing(wanted: Before, seen: Facts) -> list[str]:
    """A sentence for each fact that is worse than before; empty if none is."""
    problems = [
        f"{name} is down: {detail}" for name, detail in sorted(seen.down.items()) if name not in wanted.down
    ]
    if seen.revision < wanted.revision:
        problems.append(f"revision {seen.revision} runs, not {wanted.revision}")
    drift = [line for line in seen.drift if line not in wanted.drift]
    problems += [f"not as committed: {line}" for line in drift[:5]]
    for what, had, has in (
        ("the link of", wanted.links_up, seen.links_up),
        ("the BGP session with", wanted.bgp_established, seen.bgp_established),
        ("the OSPF adjacency with", wanted.ospf_full, seen.ospf_full),
    ):
        problems += [f"{what} {name} is not back" for name in had if name not in has]
    problems += [
        f"the service {name} is {state}" for name, state in seen.services.items() if state != "running"
    ]
    return problems
