"""BGP sessions."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from appliance.state.part import Answer, Number, OfVrf, Part


class PrefixCounts(Answer):
    """Prefixes exchanged with a neighbor in one address family."""

    prefixes_received: int | None = None
    prefixes_sent: int | None = None


class BgpNeighborState(Answer):
    """One BGP session."""

    state: str
    remote_asn: int | None = None
    local_asn: int | None = None
    description: str = ""
    peer_group: str | None = None
    router_id: str | None = None
    established_epoch_s: Number | None = None
    uptime_ms: Number | None = Field(None, description="Milliseconds the session is in its state.")
    hold_s: int | None = None
    keepalive_s: int | None = None
    messages_received: int | None = None
    messages_sent: int | None = None
    last_reset: str | None = Field(None, description="Why the session went down the last time.")
    down_ms: Number | None = Field(
        None,
        description="Milliseconds it is down, or was not up since it was configured. Null while it is up.",
    )
    down_reason: str | None = Field(
        None, description="Why it is down: a sentence, and what FRR says. Null while it is up."
    )
    down_advice: str | None = Field(None, description="What to do about that.")
    families: dict[str, PrefixCounts] = Field({}, description="By address family, such as ipv4_unicast.")


class BgpNeighborDetail(BgpNeighborState):
    """One BGP session with all that FRR tells of it."""

    detail: dict[str, Any] = Field({}, description="FRR's own words; they differ between its versions.")


class BgpState(Answer):
    """The BGP instance and its sessions."""

    asn: int | None = None
    router_id: str | None = None
    neighbors: dict[str, BgpNeighborState] = Field({}, description="By address.")


def _address(text: str) -> str:
    try:
        known = ip_address(text)
    except ValueError:
        raise PydanticCustomError("address", "must be an address") from None
    # Behind the zone's % Python takes any text.
    if isinstance(known, IPv6Address) and known.scope_id is not None:
        raise PydanticCustomError("address", "must be an address without a zone")
    return str(known)


class BgpNeighborQuery(OfVrf):
    """Which neighbor."""

    address: Annotated[str, AfterValidator(_address)]


BGP = Part(
    "bgp",
    "BGP sessions.",
    OfVrf,
    BgpState,
    lambda router, question: router.routing_in(question.vrf).bgp_state(),
)
BGP_NEIGHBOR = Part(
    "bgp-neighbor",
    "One BGP session in detail.",
    BgpNeighborQuery,
    BgpNeighborDetail,
    lambda router, question: router.routing_in(question.vrf).bgp_neighbor(question.address),
    path="bgp/neighbors/{address}",
    lane=lambda _: "bgp",
)
