"""What the engine asks about the caller's own way to the router: commit-confirm arms itself on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from appliance.config.document import RouterConfig
from appliance.engine.backend import Step

DEFAULT_CONFIRM_S = 120.0
"""Time to confirm a commit that touches the caller's own path, when he did not say."""


@dataclass(frozen=True)
class Caller:
    """From where a commit was asked for. There is none for somebody at the router's own console."""

    address: IPv4Address | IPv6Address


OwnPath = Callable[[Caller, Sequence[Step], RouterConfig, RouterConfig], tuple[str, ...]]
"""Sentences that say how steps from one document to another touch the caller's way to the router; none when
they do not. Raises nothing."""


def nobody(
    _caller: Caller, _steps: Sequence[Step], _before: RouterConfig, _after: RouterConfig
) -> tuple[str, ...]:
    """The OwnPath of a router that is reached from nowhere."""
    return ()
