"""Relays that reach no server, or have no clients. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.features.dhcp_relay.clients import relayed
from appliance.impact.change import is_up
from appliance.liveness.declaration import Need, Thing, of_things
from appliance.state.object_state import ObjectPart


def things(config: RouterConfig) -> Iterator[Thing]:
    """Each relay."""
    for name, relay in config.dhcp_relays.items():
        need = Need(f"server {relay.server}", relay.server, relay.server_vrf or "")
        clients = any(is_up(config, one) for one in relayed(config, relay.vrf))
        known = ObjectPart(
            name="clients",
            state="working" if clients else "inactive",
            why="" if clients else "no enabled interface of the clients' VRF has an IPv4 address",
        )
        yield Thing(join(["dhcp_relays", name]), "DHCP relay", name, (need,), (known,))


LIVENESS = (
    of_things(
        "dhcp_relay",
        "DHCP relays",
        "Add a route to the server, or correct its address: clients get no addresses meanwhile.",
        things,
    ),
)
