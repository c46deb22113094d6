"""Tunnels whose far end no packet reaches. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.document import RouterConfig
from appliance.config.interface_address import address_of
from appliance.config.pointer import join
from appliance.features.tunnels.ends import destination_of, source_of
from appliance.features.tunnels.model import Tunnel
from appliance.impact.change import is_up
from appliance.liveness.declaration import Need, Thing, of_things
from appliance.state.object_state import ObjectPart


def things(config: RouterConfig) -> Iterator[Thing]:
    """Each enabled tunnel."""
    for name, tunnel in config.interfaces_of(Tunnel):
        if not tunnel.enabled:
            continue
        far, source = str(destination_of(tunnel)), source_of(config, tunnel)
        owner = next(
            (
                other
                for other, one in config.interfaces.items()
                if any(address_of(text).ip == source for text in one.addresses)
            ),
            None,
        )
        begins = owner is not None and is_up(config, owner)
        known = ObjectPart(
            name=f"source {tunnel.source}",
            state="working" if begins else "inactive",
            why="" if begins else f"{owner or tunnel.source}, where it begins, is down",
        )
        need = Need(f"far end {far}", far, not_by=name, side="outside the tunnel")
        yield Thing(join(["interfaces", name]), "tunnel", name, (need,), (known,))


LIVENESS = (
    of_things(
        "tunnel",
        "tunnels",
        "Add a route to the tunnel's other end that does not lead into the tunnel, or correct its addresses.",
        things,
    ),
)
