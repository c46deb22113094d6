"""Sessions and routes of VRFs before and after a commit, by the measures of the default one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from appliance.config.document import RouterConfig
from appliance.config.vrf_view import pointer_in, seen_in, views
from appliance.features.bgp import watch as bgp
from appliance.features.ospf import watch as ospf
from appliance.features.static import watch as static
from appliance.watching.measure import AnyMeasure, Asked, Comparison, Measure, Reading, Worse

_MOST = 32
"""The most VRFs compared for each measure: each costs a query about once a second."""


@dataclass(frozen=True)
class _EachVrf:
    """A measure of one VRF, applied to each VRF other than the default one."""

    one: AnyMeasure

    def _concerned(self, config: RouterConfig) -> list[str]:
        return [vrf for vrf, view in views(config) if vrf and self.one.concerns(view)]

    def reads(self, asked: Asked) -> Reading:
        """The readings by VRF; none for a VRF that is removed."""
        first = asked.first
        wanted = list(first) if first is not None else self._concerned(asked.before or asked.after)[:_MOST]
        running = asked.router.engine.running_config.vrfs
        return {vrf: self.one.reads(_asked_in(asked, vrf)) for vrf in wanted if vrf in running}

    def compares(self, seen: Comparison[Reading]) -> Iterator[Worse]:
        """What is worse in each, with the VRF named in the text."""
        for vrf, before in seen.before.items():
            own = Comparison(before, seen.now.get(vrf, {}), seen_in(seen.after, vrf))
            for worse in self.one.compares(own):
                yield replace(
                    worse,
                    object=f"{worse.object} in VRF {vrf}",
                    text=f"VRF {vrf}: {worse.text}",
                    path=pointer_in(vrf, worse.path),
                    words=(*worse.words, worse.object),
                )

    def shows(self, reading: Reading) -> str:
        """Each VRF's, one after the other."""
        return "; ".join(f"{vrf}: {self.one.shows(one)}" for vrf, one in reading.items())

    def concerns(self, config: RouterConfig) -> bool:
        """Whether there is a VRF to compare."""
        return bool(self._concerned(config))


def _asked_in(asked: Asked, vrf: str) -> Asked:
    first = None if asked.first is None else asked.first.get(vrf)
    before = None if asked.before is None else seen_in(asked.before, vrf)
    return replace(asked, after=seen_in(asked.after, vrf), before=before, first=first, vrf=vrf)


def _in_vrfs(one: AnyMeasure) -> AnyMeasure:
    each = _EachVrf(one)
    return Measure(f"{one.name} of VRFs", one.rule, each.reads, each.compares, each.shows, each.concerns)


MEASURES = tuple(
    _in_vrfs(one) for measures in (bgp.MEASURES, ospf.MEASURES, static.MEASURES) for one in measures
)
