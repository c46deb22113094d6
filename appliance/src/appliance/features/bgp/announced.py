"""Prefixes that this router no longer announces, or announces by other rules. Pure except for the facts."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.pointer import join
from appliance.features.bgp.effective import FAMILIES, TITLES, Family, peers
from appliance.features.bgp.sessions import alive
from appliance.features.policy.changed import ChangedPolicy
from appliance.features.static.gone import Gone, gone
from appliance.impact.change import Change
from appliance.impact.result import Finding
from frr_config.protocols.bgp.model import BgpFamily

_SHOWN = 5


def announced(change: Change) -> Iterator[Finding]:
    """Prefixes of this router's own that are no longer announced to neighbors."""
    was, now = change.before.routing.bgp, change.after.routing.bgp
    if was is None or now is None:
        return
    from_table, policy = gone(change), ChangedPolicy(change)
    for family in FAMILIES:
        before, after = getattr(was, family), getattr(now, family)
        lost, filtered = unannounced(family, before, after, from_table), _filtered(policy, before, after)
        if not (lost or filtered):
            continue
        told = [address for address, one in peers(change.after).items() if one.exchanges(family)]
        up = [address for address in told if alive(change, address) is not False]
        if not up:
            continue
        to, path = f"{len(up)} neighbor{'s' if len(up) > 1 else ''}", join(["routing", "bgp", family])
        if lost:
            yield Finding(
                grade="possible",
                kind="routes",
                path=path,
                text=f"BGP no longer announces {listed(lost)} to {to}.",
                depends_on="nothing else provides or announces the same prefixes",
            )
        if filtered:
            yield Finding(
                grade="possible",
                kind="routes",
                path=path,
                text=f"The rules by which BGP announces {TITLES[family]} routes to {to} change: "
                f"{'; '.join(filtered)}.",
                depends_on="the new rules deny or change some of these routes, which is not checked",
            )


def listed(lost: list[str]) -> str:
    """The first of them, in a sentence."""
    more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    return f"{', '.join(lost[:_SHOWN])}{more}"


def unannounced(family: Family, was: BgpFamily, now: BgpFamily, from_table: Gone) -> list[str]:
    """Networks and protocols no longer taken into BGP, and prefixes that disappeared from under them.

    bgpd announces a network only while the table has its prefix.
    """
    networks, version = set(now.networks), ":" if family == "ipv6_unicast" else "."
    found = [prefix for prefix in was.networks if prefix not in networks or prefix in from_table.entirely]
    for protocol in type(was.redistribute).model_fields:
        if getattr(was.redistribute, protocol) is None:
            continue
        if getattr(now.redistribute, protocol) is None:
            found.append(f"{protocol} routes")
        else:
            found += (prefix for prefix in from_table.by.get(protocol, ()) if version in prefix)
    return list(dict.fromkeys(found))


def _filtered(policy: ChangedPolicy, was: BgpFamily, now: BgpFamily) -> list[str]:
    said = []
    for protocol in type(was.redistribute).model_fields:
        before, after = getattr(was.redistribute, protocol), getattr(now.redistribute, protocol)
        if before is not None and after is not None:
            said.append(policy.of_filter(f"{protocol} routes", before.route_map, after.route_map))
    return [one for one in said if one]
