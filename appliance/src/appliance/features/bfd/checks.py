"""BFD: what a data plane cannot do, and next hops that it cannot monitor."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.context import Context, address, family_of, family_title
from appliance.config.pointer import escape
from appliance.errors import Problem
from frr_config.protocols.bfd.augments import WatchedNextHop, watched
from frr_config.protocols.static.model import NEXT_HOP, NextHop

_NO_ECHO = (
    "VPP drops packets that return to the address they were sent from: echo works only on the linux data"
    " plane"
)


def check(context: Context) -> Iterator[Problem]:
    """Profiles ask for nothing that is not supported."""
    for name, profile in context.config.routing.bfd.profiles.items():
        if profile.echo and context.capabilities.driver == "vpp":
            yield Problem(f"/routing/bfd/profiles/{escape(name)}/echo", _NO_ECHO)


def check_vrf(context: Context) -> Iterator[Problem]:
    """Next hops are as far away as the document says."""
    for prefix, route in context.config.routing.static.items():
        for index, hop in enumerate(route.next_hops):
            if (bfd := watched(hop)) is not None:
                yield from _watched(context, hop, bfd, f"/routing/static/{escape(prefix)}/next_hops/{index}")


def _watched(context: Context, hop: NextHop, bfd: WatchedNextHop, path: str) -> Iterator[Problem]:
    if (lacking := context.capabilities.lacking.get(f"bfd of {NEXT_HOP}")) is not None:
        yield Problem(f"{path}/bfd_profile", lacking)
        return
    assert hop.address is not None  # the model wants one
    gateway = address(hop.address)
    there = context.beside(hop.vrf)
    if there is None:
        return
    near = there.connected(hop.address, hop.interface) is not None or gateway.is_link_local
    if not near and not bfd.bfd_multihop:
        yield Problem(
            f"{path}/bfd_multihop", f"{hop.address} is in no connected network: it needs bfd_multihop"
        )
    if bfd.bfd_source is None:
        return
    if family_of(bfd.bfd_source) != family_of(hop.address):
        family = family_title(family_of(hop.address))
        yield Problem(
            f"{path}/bfd_source", f"the next hop is an {family} address, and {bfd.bfd_source} is not"
        )
    elif address(bfd.bfd_source) not in context.own:
        yield Problem(f"{path}/bfd_source", f"{bfd.bfd_source} is not an address of this router")
