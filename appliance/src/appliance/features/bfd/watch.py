"""Sessions that were up before a commit. Pure except for the reading."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address, ip_network

from appliance.config.document import RouterConfig
from appliance.config.vrf_view import DEFAULT_VRF, views
from appliance.features.bfd.control_plane import links, opens, peers
from appliance.watching.measure import Asked, Comparison, Measure, Reading, Worse
from frr_config.protocols.bfd.augments import profile_of
from frr_config.protocols.bfd.state import bfd_sessions


def _read(asked: Asked) -> Reading:
    found: Reading = {}
    for one in asked.router.routing.ask(bfd_sessions):
        name = one.peer if one.interface is None else f"{one.peer} on {one.interface}"
        name += f" in VRF {one.vrf}" if one.vrf else ""
        found[name] = {
            "peer": one.peer,
            "interface": one.interface,
            "vrf": one.vrf or "",
            "state": one.state,
        }
    return found


def _compare(seen: Comparison[Reading]) -> Iterator[Worse]:
    wanted, watched = _wanted(seen.after)
    for name, was in seen.before.items():
        now = seen.now.get(name)
        if was["state"] != "up" or (now is not None and now["state"] == "up"):
            continue
        yield Worse(
            name,
            f"The BFD session with {name} is not up.",
            was["state"],
            "gone" if now is None else now["state"],
            "/routing/bfd",
            asked_for=(was.get("vrf", ""), was["peer"]) not in wanted and was["interface"] not in watched,
            lasts_s=None,
            kinds=("session",),
            words=(was["peer"],),
        )


def _wanted(config: RouterConfig) -> tuple[set[tuple[str, str]], set[str]]:
    """Peers, each with its VRF: several may have the same address. And links that are watched as a whole."""
    wanted: set[tuple[str, str]] = set()
    watched: set[str] = set()
    for vrf, view in views(config):
        watched.update(link.interface for link in links(view))
        wanted.update((vrf, str(ip_network(one.prefix).network_address)) for one in peers(view))
        # The session of a next hop in another VRF is in that VRF.
        for route in view.routing.static.values():
            for hop in route.next_hops:
                if hop.vrf is not None and hop.address is not None and profile_of(hop) is not None:
                    where = "" if hop.vrf == DEFAULT_VRF else hop.vrf
                    wanted.add((where, str(ip_address(hop.address))))
    return wanted, watched


def _shows(reading: Reading) -> str:
    return f"{sum(one['state'] == 'up' for one in reading.values())} of {len(reading)} up"


def _concerns(config: RouterConfig) -> bool:
    return any(True for _, view in views(config) for _ in opens(view))


MEASURES = (
    Measure(
        "BFD sessions",
        "a session that was up is not at the end of the watch",
        _read,
        _compare,
        _shows,
        _concerns,
        ahead=True,
    ),
)
