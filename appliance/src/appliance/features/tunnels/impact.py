"""The effect on tunnels when their outer ends change. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.document import RouterConfig
from appliance.config.interface_address import address_of
from appliance.config.pointer import join
from appliance.features.tunnels.ends import destination_of, source_of
from appliance.features.tunnels.model import Tunnel
from appliance.impact.analysis import Analysis
from appliance.impact.change import Change, is_up
from appliance.impact.result import Finding
from frr_config.types import IpAddress


def ends(change: Change) -> Iterator[Finding]:
    """Tunnels that remain, but get another source or lose the route to the other end."""
    # The outer packets of tunnels are always routed by the main table.
    seen = change.main
    for name, now in change.after.interfaces_of(Tunnel):
        change.in_time()
        was = change.before.interfaces.get(name)
        if not isinstance(was, Tunnel) or not (is_up(change.before, name) and is_up(change.after, name)):
            continue
        earlier, source = source_of(change.before, was), source_of(change.after, now)
        if earlier != source:
            yield _found(
                name,
                "source" if was.source != now.source else "",
                f"the packets of tunnel {name} are sent from {source}, and no longer from {earlier}",
                "the other end does not expect that address",
            )
            continue
        owner = _owner(seen.before, source)
        if owner is not None and is_up(seen.before, owner) and not is_up(seen.after, owner):
            why = f"{owner}, which has the source address {source}, is down"
            yield _found(name, "", why, f"the tunnel's packets use {owner}")
        to = destination_of(now)
        network = seen.connected_before.of(to)
        if was.destination == now.destination and network is not None and seen.connected_after.of(to) is None:
            why = f"{network.network} on {network.interface}, with its other end, is no longer connected"
            yield _found(name, "", why, f"no route leads to {to}")


def _found(name: str, field: str, why: str, depends_on: str) -> Finding:
    return Finding(
        grade="possible",
        kind="traffic",
        path=join(["interfaces", name, *([field] if field else [])]),
        text=f"No packet passes {name} any more: {why}.",
        depends_on=depends_on,
    )


def _owner(config: RouterConfig, source: IpAddress | None) -> str | None:
    """The interface with this address."""
    return next(
        (
            name
            for name, one in config.interfaces.items()
            if any(address_of(text).ip == source for text in one.addresses)
        ),
        None,
    )


ANALYSES = (Analysis("ends of tunnels", ends),)
