"""The addresses the router pings while a commit is watched. Pure except for the reading."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.document import RouterConfig
from appliance.config.vrf_view import pointer_in, views
from appliance.features.registry import declared
from appliance.watching.measure import LASTS_S, Asked, Comparison, Measure, Probe, Reading, Worse
from appliance.watching.pings import Target, ping_all

MOST = 32
"""Addresses that are pinged, once a second each."""
SLOWER_MS = 50.0
TIMES_AS_SLOW = 3.0


def _probes(config: RouterConfig, most: int | None = MOST) -> dict[str, Probe]:
    """By address, with its VRF unless that is the default one; at most this many, None: all."""
    found: dict[str, Probe] = {}
    for vrf, view in views(config):
        for probes in declared("watch", "probes"):
            for probe in probes(view):
                if len(found) == most:
                    return found
                where = vrf if probe.vrf is None else probe.vrf
                name = f"{probe.address} in VRF {where}" if where else probe.address
                what = f"{probe.what} in VRF {where}" if where else probe.what
                one = Probe(probe.address, what, pointer_in(vrf, probe.path), where)
                found.setdefault(name, one)
    return found


def _read(asked: Asked) -> Reading:
    """Milliseconds by name; None for a name that did not answer."""
    if asked.first is not None:
        wanted = {
            name: Probe(known.get("address", name), known["what"], known["path"], known.get("vrf", ""))
            for name, known in asked.first.items()
        }
    else:
        wanted = _probes(asked.before or asked.after)
    targets = {name: Target(one.address, one.vrf or "") for name, one in wanted.items()}
    answered = ping_all(asked.router.netns, targets.values(), asked.within_s) if targets else {}
    return {
        name: {
            "what": one.what,
            "path": one.path,
            "address": one.address,
            "vrf": one.vrf or "",
            "ms": answered.get(targets[name]),
        }
        for name, one in wanted.items()
    }


def _compare(seen: Comparison[Reading]) -> Iterator[Worse]:
    wanted: dict[str, Probe] | None = None
    for address, was in seen.before.items():
        now = seen.now.get(address)
        if was["ms"] is None or now is None:
            continue
        if now["ms"] is None:
            # Also an address that others have displaced from the list pinged now.
            wanted = _probes(seen.after, None) if wanted is None else wanted
            yield Worse(
                address,
                f"The {was['what']} does not answer pings.",
                f"{was['ms']:.1f} ms",
                "no answer",
                was["path"],
                asked_for=address not in wanted,
                kinds=("session", "traffic", "routes"),
            )
        elif now["ms"] > was["ms"] + SLOWER_MS and now["ms"] > was["ms"] * TIMES_AS_SLOW:
            yield Worse(
                address,
                f"The {was['what']} answers pings {now['ms'] - was['ms']:.0f} ms later than before.",
                f"{was['ms']:.1f} ms",
                f"{now['ms']:.1f} ms",
                was["path"],
            )


def _shows(reading: Reading) -> str:
    times_ms = [one["ms"] for one in reading.values() if one["ms"] is not None]
    slowest = f", within {max(times_ms):.1f} ms" if times_ms else ""
    return f"{len(times_ms)} of {len(reading)} answer{slowest}"


def _concerns(config: RouterConfig) -> bool:
    return bool(_probes(config, 1))


PINGS = Measure(
    "pings",
    f"for {LASTS_S:.0f} s an address that answered no longer does, or answers {SLOWER_MS:.0f} ms later and "
    f"{TIMES_AS_SLOW:.0f} times as late; at most {MOST} are pinged: next hops of static routes, neighbors",
    _read,
    _compare,
    _shows,
    _concerns,
    ahead=True,
)
