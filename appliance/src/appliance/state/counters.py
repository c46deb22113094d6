"""Counters of interfaces, since they were cleared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from appliance.state.part import Answer, Everything, Part, Table

if TYPE_CHECKING:
    from appliance.agent.router import Router


class InterfaceCounts(Answer):
    """What an interface has counted since it was cleared, or since it was made."""

    interface: str
    rx_packets: int
    rx_bytes: int
    tx_packets: int
    tx_bytes: int
    rx_drops: int
    tx_drops: int
    rx_errors: int
    tx_errors: int
    cleared_at: str | None = Field(
        None, description="By the router's clock, ISO 8601. Null: counted since the interface was made."
    )
    cleared_by: str | None = None


class CountersSince(Answer):
    """Every interface that counts."""

    counters: tuple[InterfaceCounts, ...]


def _read(router: Router, _: Everything) -> CountersSince:
    cleared = router.cleared.interfaces()
    rows = []
    for name, counters in router.dataplane.counters()["interfaces"].items():
        one = cleared.get(name)
        base = one["base"] if one else {}
        rows.append(
            InterfaceCounts(
                interface=name,
                cleared_at=one["at"] if one else None,
                cleared_by=one["by"] if one else None,
                # What started anew since the last look is not less than nothing.
                **{counter: max(0, value - base.get(counter, 0)) for counter, value in counters.items()},
            )
        )
    return CountersSince(counters=tuple(rows))


COUNTERS = Part(
    "counters",
    "Counters of every interface since they were cleared, or since it was made.",
    Everything,
    CountersSince,
    _read,
    table=Table(
        (
            *("interface", "rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "rx_drops", "tx_drops"),
            *("rx_errors", "tx_errors", "cleared_at", "cleared_by"),
        ),
        lambda answer: answer.counters,
    ),
)
