"""The checks that belong to no feature, and the list of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from appliance.engine.reserve import Room
from appliance.engine.view import Seen
from appliance.features.registry import declared
from appliance.health import feeder as feeder_health
from appliance.health import forwarding, known_addresses, platform
from appliance.health.check import UNDER_WAY_S, AnyCheck, Check, Finding, Look
from appliance.liveness import health as liveness_health
from appliance.state.health import PartHealth
from appliance.state.watch import WatchReport, Worsening

if TYPE_CHECKING:
    from appliance.agent.router import Router

_SHOWN = 5
"""How many lines of evidence are listed; a count stands for the rest."""


def _parts(router: Router) -> Mapping[str, PartHealth]:
    """Data plane and routing are queried now; the others are as last observed by the engine."""
    seen = {name: PartHealth.model_validate(entry) for name, entry in router.engine.seen.health.items()}
    feeder = {} if router.feeder is None else {"feeder": router.feeder.health()}
    return {**seen, **{part.name: part.health() for part in (router.dataplane, router.routing)}, **feeder}


def parts_down(look: Look[Mapping[str, PartHealth]]) -> Iterator[Finding]:
    """Programs behind the router that do not answer, or have a process that does not run."""
    for name, part in look.now.items():
        if part.state != "down":
            continue
        stopped = sorted(daemon for daemon, state in part.daemons.items() if not state.running)
        evidence = {"detail": part.detail, **({"not running": ", ".join(stopped)} if stopped else {})}
        yield Finding(
            "part_down",
            name,
            "critical",
            f"{part.label or name} is down: {part.detail}",
            "The system restarts it automatically. If it stays down, read its log with journalctl.",
            evidence,
        )


def drift(look: Look[Seen]) -> Iterator[Finding]:
    """The live router differs from the revision that runs."""
    seen = look.now
    if not seen.drift:
        return
    lines = {str(at): line for at, line in enumerate(seen.drift[:_SHOWN], 1)}
    if (more := len(seen.drift) - _SHOWN) > 0:
        lines["more"] = str(more)
    repairs = look.config.system.drift_policy == "repair"
    yield Finding(
        "drift",
        "router",
        "major" if seen.waiting else "minor",
        f"The router differs from its document in {len(seen.drift)} step{'s'[: len(seen.drift) != 1]}",
        "The agent repairs it. If this persists, a step of the repair fails: see the evidence."
        if repairs or seen.waiting
        else "Commit the document again to restore it, or set the drift policy to repair.",
        lines,
        patience_s=UNDER_WAY_S,
    )


def damaged(look: Look[tuple[str, ...]]) -> Iterator[Finding]:
    """Parts of the recorded state that cannot be read."""
    if look.now:
        yield Finding(
            "damaged_history",
            "revisions",
            "major",
            look.now[0][:1].upper() + look.now[0][1:],
            "The evidence says what runs instead and what to do; the list of revisions has the rest.",
            {str(at): sentence for at, sentence in enumerate(look.now[:_SHOWN], 1)},
        )


def disk_full(look: Look[Room]) -> Iterator[Finding]:
    """No room for another commit."""
    room = look.now
    if room.free_bytes < room.needed_bytes:
        yield Finding(
            "disk_full",
            "disk",
            "critical",
            "The disk that holds the router's revisions is full: commits are refused",
            "Free space on it. Confirming and rolling back still work.",
            {
                "free": f"{room.free_bytes // 1024 // 1024} MiB",
                "needed": f"{room.needed_bytes // 1024 // 1024} MiB",
            },
        )


def service(look: Look[tuple[WatchReport, ...]]) -> Iterator[Finding]:
    """Worsenings that the watch after the last commit saw and that were not foretold."""
    for report in look.now:
        name = f"revision {report.revision}"
        evidence = {one.object: _change(one) for one in report.counted[:_SHOWN]}
        if report.state == "rolled_back":
            yield Finding(
                "rolled_back",
                name,
                "major",
                f"Revision {report.revision} was rolled back automatically: {_first(report)}",
                "The revision's page says what got worse. Fix it before you commit the change again.",
                evidence,
            )
        elif report.state == "worse" and report.surprises and report.as_before_since is None:
            # A rollback is compared with the state before the commit that it rolled back.
            is_way_back = report.compared_with < report.revision - 1
            yield Finding(
                "worse_after_commit",
                name,
                "major",
                f"Still worse after the rollback in revision {report.revision}: {_first(report)}"
                if is_way_back
                else f"Sessions or traffic got worse after revision {report.revision}: {_first(report)}",
                "The rollback did not restore it: look for the cause outside the document."
                if is_way_back
                else "The revision's page says what got worse. Roll back if the commit caused it.",
                evidence,
            )
        elif report.state == "interrupted" and report.rolls_back:
            yield Finding(
                "watch_interrupted",
                name,
                "warning",
                f"The watch of revision {report.revision} was interrupted: no automatic rollback follows",
                "Check the sessions and the traffic yourself, and roll back if they are not as before.",
                {"why": report.note},
            )


def _first(report: WatchReport) -> str:
    told = (report.surprises or report.counted)[:1]
    return told[0].text.rstrip(".") if told else "see the revision"


def _change(one: Worsening) -> str:
    return f"{one.before} -> {one.after}" if one.before or one.after else one.text


OWN: tuple[AnyCheck, ...] = (
    Check("parts of the router", _parts, parts_down),
    Check("drift", lambda router: router.engine.seen, drift),
    Check("recorded history", lambda router: tuple(router.engine.damage()), damaged),
    Check("sessions and traffic after the last commit", lambda router: router.engine.watched.told(), service),
    Check("disk", lambda router: router.engine.room(), disk_full),
)


def every_check(*, feeds: bool = True) -> tuple[AnyCheck, ...]:
    """These and those of the features; those of a feeder only if one carries the routes (``feeds``)."""
    of_features = (check for checks in declared("health", "CHECKS") for check in checks)
    return (
        *OWN,
        *platform.CHECKS,
        *known_addresses.CHECKS,
        *forwarding.CHECKS,
        *(feeder_health.CHECKS if feeds else ()),
        *of_features,
        *liveness_health.checks(),
    )
