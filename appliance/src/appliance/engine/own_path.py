"""The engine's question about the caller's own path to the router, by which commit-confirm is armed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from appliance.config.document import RouterConfig
from appliance.engine.backend import Step

DEFAULT_CONFIRM_S = 120.0
"""Time to confirm a commit that touches the caller's own path, when the caller gave none."""


@dataclass(frozen=True)
class Caller:
    """Where a commit request came from. A user at the router's own console has no Caller."""

    address: IPv4Address | IPv6Address

    @classmethod
    def at(cls, address: IPv4Address | IPv6Address | None) -> Caller | None:
        """The one at this address; None is the console."""
        return None if address is None else cls(address)


OwnPath = Callable[[Caller, Sequence[Step], RouterConfig, RouterConfig], tuple[str, ...]]
"""Sentences that say how the steps between two documents touch the caller's path to the router; none when
they do not. Raises nothing."""


def nobody(
    _caller: Caller, _steps: Sequence[Step], _before: RouterConfig, _after: RouterConfig
) -> tuple[str, ...]:
    """The OwnPath of a router that nobody reaches over the network."""
    return ()
