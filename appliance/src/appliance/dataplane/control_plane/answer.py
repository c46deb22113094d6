"""What is let in, and what was counted, as the router's state tells it. Pure."""

from __future__ import annotations

from appliance.config.services import Opening, Service, services
from appliance.dataplane.control_plane.rules import accepted, dropped
from appliance.dataplane.control_plane.rules_read import Reading
from appliance.state.control_plane import MOST_SOURCES, ControlPlaneState, GuardedInterface, RouterService


def answer_of(reading: Reading | None) -> ControlPlaneState:
    """Services and interfaces of our table, without VPP's policers; nothing where there is no table."""
    if reading is None:
        return ControlPlaneState(interfaces=(), policers=())
    open_on: dict[str, list[str]] = {}
    for link in reading.control_plane.links:
        open_on.setdefault(link.interface, []).append(link.reason)
    management: dict[str, list[Opening]] = {}
    for opening in reading.control_plane.management:
        management.setdefault(opening.interface, []).append(opening)
    return ControlPlaneState(
        services=tuple(_service(service, reading) for service in services().values()),
        interfaces=tuple(
            GuardedInterface(
                interface=name,
                open_services=tuple(open_on.get(name, ())),
                management_services=tuple(dict.fromkeys(one.service for one in management.get(name, ()))),
                management_sources=tuple(
                    dict.fromkeys(one.source for one in management.get(name, ()) if one.source)
                ),
                accepted=_of(reading, "accepted", accepted(), name),
                dropped=_of(reading, "dropped", dropped(), name),
            )
            for name in reading.control_plane.interfaces
        ),
        policers=(),
    )


def _service(service: Service, reading: Reading) -> RouterService:
    sources = dict.fromkeys(
        peer.source for peer in reading.control_plane.peers if peer.reason == service.reason
    )
    return RouterService(
        reason=service.reason,
        title=service.words,
        by_source=bool(service.forms),
        by_interface=bool(service.links),
        sources=tuple(sources)[:MOST_SOURCES],
        more_sources=max(0, len(sources) - MOST_SOURCES),
    )


def _of(reading: Reading, kind: str, reasons: tuple[str, ...], interface: str) -> dict[str, int]:
    """An interface that lets nothing in for a reason has no such count."""
    counts = {reason: reading.packets.get(f"{kind}-{reason}", {}).get(interface) for reason in reasons}
    return {reason: packets for reason, packets in counts.items() if packets is not None}
