"""Interfaces that are enabled and have no link, and interfaces that drop packets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.health.check import UNDER_WAY_S, Check, Finding, Look

if TYPE_CHECKING:
    from appliance.agent.router import Router

Links = Mapping[str, bool]
"""Existing interfaces, and whether they have a link."""
Counters = Mapping[str, Mapping[str, int]]
_LEAST_PPS = 10.0
"""Drops below this are normal: unknown protocols, an occasional burst."""
_LEAST_SHARE = 0.01
"""Share of the packets in the same direction."""
_MANY_PPS = 1000.0
"""From this rate on the share does not matter."""
_DIRECTIONS = {
    "rx_drops": ("rx_packets", "received packets"),
    "tx_drops": ("tx_packets", "packets to be sent"),
    "rx_errors": ("rx_packets", "received packets with errors"),
    "tx_errors": ("tx_packets", "packets that could not be sent"),
}


def links(look: Look[Links]) -> Iterator[Finding]:
    """One alarm for each link that is down; interfaces on it are down with it, and counted there."""
    lowest = {name: _lowest(look.config, name) for name in look.config.interfaces}
    above = Counter(
        lowest[name]
        for name, settings in look.config.interfaces.items()
        if settings.enabled and lowest[name] != name
    )
    for name, settings in look.config.interfaces.items():
        if not settings.enabled or look.now.get(name):
            continue
        below = lowest[name]
        # Its own alarm, or the user who disabled it, explains this one.
        if below != name and not look.now.get(below):
            continue
        pointer = join(("interfaces", name))
        said = f"Interface {name}" + (f" ({settings.description})" if settings.description else "")
        also = {"also down": f"interfaces on it: {above[name]}"} if above[name] else {}
        if name not in look.now:
            yield Finding(
                "interface_missing",
                name,
                "critical",
                f"{said} is missing",
                "The data plane does not have it: check whether its NIC is present, and look at drift.",
                also,
                pointer,
                patience_s=UNDER_WAY_S,
            )
        else:
            yield Finding(
                "link_down",
                name,
                "major",
                f"{said} is enabled and its link is down",
                "Check the cable, the transceiver and the port at the other end, or whether a virtual NIC "
                "is connected. Disable the interface if it is not in use.",
                {"enabled": "yes", "link": "down", **also},
                pointer,
            )


def _lowest(config: RouterConfig, name: str) -> str:
    """The interface at the bottom of those this one is on."""
    seen = {name}
    while (settings := config.interfaces.get(name)) is not None:
        carrier = settings.carrier
        if carrier is None or carrier in seen:
            break
        seen.add(carrier)
        name = carrier
    return name


def drops(look: Look[Counters]) -> Iterator[Finding]:
    """Interfaces whose drops or errors grow fast, each with the counter that grows fastest.

    A current alarm stands until the rate is below half of that which raised it.
    """
    if look.before is None or look.elapsed_s <= 0:
        return
    for name, now in look.now.items():
        before = look.before.get(name)
        if before is None or name not in look.config.interfaces:
            continue
        easing = 0.5 if ("drops_rising", name) in look.standing else 1.0
        rates = {field: _rate(now, before, field, look.elapsed_s) for field in _DIRECTIONS}
        worst = max(rates, key=lambda field: rates[field])
        passed_field, what = _DIRECTIONS[worst]
        rate_pps, passed_pps = rates[worst], _rate(now, before, passed_field, look.elapsed_s)
        share = rate_pps / max(rate_pps + passed_pps, 1.0)
        if rate_pps < _LEAST_PPS * easing or (rate_pps < _MANY_PPS and share < _LEAST_SHARE * easing):
            continue
        yield Finding(
            "drops_rising",
            name,
            "warning",
            f"Interface {name} loses {rate_pps:.0f} packets a second ({what})",
            "Compare the rate with the interface's speed; look at the workers' load and the reasons for "
            "drops on the dashboard, and at access lists that deny.",
            {
                "rate": f"{rate_pps:.1f} packets/s",
                "share": f"{share:.1%}",
                what: f"{now.get(worst, 0):,} lost in all",
                "over": f"{look.elapsed_s:.0f} s",
            },
            join(("interfaces", name)),
        )


def _rate(now: Mapping[str, int], before: Mapping[str, int], field: str, elapsed_s: float) -> float:
    """Per second; 0 if the counter began anew."""
    return max(0, now.get(field, 0) - before.get(field, 0)) / elapsed_s


def _links(router: Router) -> Links:
    return router.dataplane.links()


def _counters(router: Router) -> Counters:
    counters: Counters = router.dataplane.counters()["interfaces"]
    return counters


def _concerns(config: RouterConfig) -> bool:
    return bool(config.interfaces)


CHECKS = (Check("links", _links, links, _concerns), Check("drops", _counters, drops, _concerns))
