"""Analyses, and their combined findings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from appliance.config.vrf_view import pointer_in, view_of
from appliance.features.registry import declared
from appliance.impact.change import Change, NotLookedAt, OutOfTime
from appliance.impact.needed import Needed
from appliance.impact.result import MOST_FINDINGS, Finding, Result, in_order
from appliance.liveness.impact import unreached

log = logging.getLogger(__name__)
_MOST_KEPT = 10 * MOST_FINDINGS


@dataclass(frozen=True)
class Analysis:
    """One analysis of a change. A feature's ``impact.py`` lists its own in ``ANALYSES``."""

    looks_at: str
    """Its name in the summary: ``static routes``."""
    find: Callable[[Change], Iterator[Finding]]
    """Pure except for the facts it asks for; linear in the documents; calls ``change.in_time`` in loops."""
    each_vrf: bool = False
    """It analyses a change as one VRF sees it, and is run for each VRF in turn."""

    def findings(self, change: Change) -> Iterator[Finding]:
        """Its findings, with the VRF named in the text."""
        if not self.each_vrf:
            yield from self.find(change)
            return
        for vrf, seen in change.in_each_vrf():
            change.in_time()
            for finding in self.find(seen):
                yield finding if not vrf else _of_vrf(vrf, finding)


def analyses() -> tuple[Analysis, ...]:
    """The analyses of all features, in the order of the features, and that of what they declare."""
    of_features = (one for listed in declared("impact", "ANALYSES") for one in listed)
    return (*of_features, Analysis("objects that need a route", unreached))


def _of_vrf(vrf: str, finding: Finding) -> Finding:
    return finding.model_copy(
        update={"path": pointer_in(vrf, finding.path), "text": f"VRF {vrf}: {finding.text}"}
    )


def whose(path: str) -> str | None:
    """The VRF that owns this place, empty for the default one; None for a place that no VRF owns."""
    vrf, place = view_of(path)
    return vrf if vrf or pointer_in("any", place) != place else None


def packets_needed(change: Change, after: bool) -> Iterator[Needed]:
    """The packets that the features need let through, in the document after the change or before it."""
    for needs in declared("impact", "needed"):
        for vrf, seen in change.in_each_vrf():
            for one in needs(seen, after):
                yield (
                    replace(one, what=f"{one.what} in VRF {vrf}", path=pointer_in(vrf, one.path))
                    if vrf
                    else one
                )


def foretell(change: Change, listed: Sequence[Analysis] | None = None) -> Result:
    """The effects of the change once applied. Never raises: it says what it could not analyse."""
    if change.before == change.after:
        return Result(looked_at=("both documents, which are alike",))
    found: list[Finding] = []
    looked_at: list[str] = []
    not_looked_at: list[str] = []
    left_off = 0
    for analysis in analyses() if listed is None else listed:
        try:
            change.in_time()
            for finding in analysis.findings(change):
                if len(found) < _MOST_KEPT:
                    found.append(finding)
                else:
                    left_off += 1
        except NotLookedAt as reason:
            not_looked_at.append(f"{analysis.looks_at}: {reason}")
        except OutOfTime:
            not_looked_at.append(f"{analysis.looks_at}, to the end: it took too long")
        except Exception:
            # The plan is worth more than one of its analyses; the reader is told what is missing.
            log.exception("the analysis of %s failed", analysis.looks_at)
            not_looked_at.append(f"{analysis.looks_at}: looking at them failed")
        else:
            looked_at.append(analysis.looks_at)
    not_looked_at += [f"{name}: {reason}" for name, reason in change.facts.untold.items()]
    ordered = in_order(found)
    return Result(
        findings=tuple(ordered[:MOST_FINDINGS]),
        left_off=left_off + max(len(ordered) - MOST_FINDINGS, 0),
        looked_at=tuple(looked_at),
        not_looked_at=tuple(not_looked_at),
    )
