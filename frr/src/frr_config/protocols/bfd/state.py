"""Live BFD sessions, as bfdd shows them. The other end is not trusted: only known fields pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from frr_config.state import State
from frr_config.types import DEFAULT_VRF

Json = Mapping[str, Any]
Key = tuple[Any, ...]
SessionState = Literal["up", "init", "down", "admin_down"]

_STATES: dict[str, SessionState] = {"up": "up", "init": "init", "down": "down", "shutdown": "admin_down"}
_DIAGNOSTICS = frozenset(
    {
        "control detection time expired",
        "echo function failed",
        "neighbor signaled session down",
        "forwarding plane reset",
        "path down",
        "concatenated path down",
        "administratively down",
        "reverse concatenated path down",
    }
)
"""The diagnostic codes of RFC 5880, section 4.1, in bfdd's words."""


class _Shown(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class BfdCounters(_Shown):
    """Packets and changes of one session since it was set up."""

    control_received: int
    control_sent: int
    echo_received: int
    echo_sent: int
    ups: int
    downs: int


class BfdSession(_Shown):
    """One session, and why it is not up."""

    peer: str
    local: str | None = None
    interface: str | None = None
    vrf: str | None = None
    """None for the default VRF."""
    multihop: bool
    state: SessionState
    since_s: int | None = Field(default=None, json_schema_extra={"unit": "s"})
    """Seconds in this state; None where bfdd does not tell."""
    diagnostic: str | None = None
    """Why this end went down (RFC 5880, section 4.1); None where it did not, or is up again."""
    remote_diagnostic: str | None = None
    """The same as the other end says it."""
    reason: str | None = None
    """Why the session is not up, as a sentence; None while it is."""
    passive: bool
    detect_multiplier: int
    transmit_interval_ms: int
    receive_interval_ms: int
    echo_transmit_interval_ms: int
    """0 where this end sends no echo packets."""
    remote_detect_multiplier: int
    remote_transmit_interval_ms: int
    remote_receive_interval_ms: int
    detection_time_ms: int | None = None
    """For how long nothing may come: the other end's multiplier times the slower of what it sends and what
    this end takes. None unless the session is up."""
    minimum_ttl: int | None = None
    """Of a multihop session."""
    round_trip_us: int | None = None
    """Average of the last echo packets."""
    counters: BfdCounters | None = None


def bfd_sessions(state: State) -> tuple[BfdSession, ...]:
    """Every session, with its counters; empty where BFD watches nothing. Raises FrrUnavailable."""
    peers = state.json_list("bfdd", "show bfd peers json")
    return sessions(peers, state.json_list("bfdd", "show bfd peers counters json") if peers else ())


def sessions(peers: Iterable[Json], counters: Iterable[Json]) -> tuple[BfdSession, ...]:
    """The sessions of ``show bfd peers json`` combined with ``show bfd peers counters json``, by peer."""
    counted = {_key(entry): entry for entry in counters}
    return tuple(
        sorted(
            _sessions(peers, counted),
            key=lambda one: (one.vrf or "", ":" in one.peer, one.peer, one.local or ""),
        )
    )


def _key(entry: Json) -> Key:
    return tuple(entry.get(part) for part in ("peer", "local", "interface", "vrf", "multihop"))


def _sessions(peers: Iterable[Json], counted: Mapping[Key, Json]) -> Iterator[BfdSession]:
    for entry in peers:
        state = _STATES.get(str(entry.get("status")), "down")
        diagnostic, remote = _diagnostic(entry, "diagnostic"), _diagnostic(entry, "remote-diagnostic")
        remote_transmit = _number(entry, "remote-transmit-interval")
        receive, multiplier = _number(entry, "receive-interval"), _number(entry, "remote-detect-multiplier")
        counters = counted.get(_key(entry))
        yield BfdSession(
            peer=str(entry.get("peer", "")),
            local=_text(entry, "local"),
            interface=_text(entry, "interface"),
            vrf=None if (vrf := _text(entry, "vrf")) == DEFAULT_VRF else vrf,
            multihop=bool(entry.get("multihop")),
            state=state,
            since_s=entry.get("uptime", entry.get("downtime")),
            diagnostic=diagnostic,
            remote_diagnostic=remote,
            reason=None if state == "up" else _reason(state, diagnostic, remote),
            passive=bool(entry.get("passive-mode")),
            detect_multiplier=_number(entry, "detect-multiplier"),
            transmit_interval_ms=_number(entry, "transmit-interval"),
            receive_interval_ms=receive,
            echo_transmit_interval_ms=_number(entry, "echo-transmit-interval"),
            remote_detect_multiplier=multiplier,
            remote_transmit_interval_ms=remote_transmit,
            remote_receive_interval_ms=_number(entry, "remote-receive-interval"),
            detection_time_ms=multiplier * max(receive, remote_transmit) if state == "up" else None,
            minimum_ttl=entry.get("minimum-ttl"),
            round_trip_us=entry.get("rtt-avg") or None,
            counters=None if counters is None else _counters(counters),
        )


def _counters(entry: Json) -> BfdCounters:
    return BfdCounters(
        control_received=_number(entry, "control-packet-input"),
        control_sent=_number(entry, "control-packet-output"),
        echo_received=_number(entry, "echo-packet-input"),
        echo_sent=_number(entry, "echo-packet-output"),
        ups=_number(entry, "session-up"),
        downs=_number(entry, "session-down"),
    )


def _diagnostic(entry: Json, name: str) -> str | None:
    """One of the known texts; None for ``ok`` and for an unknown text."""
    text = entry.get(name)
    return text if text in _DIAGNOSTICS else None


def _reason(state: SessionState, diagnostic: str | None, remote: str | None) -> str:
    if state == "admin_down":
        return "shut down on this router"
    if state == "init":
        return "the neighbor answers, and the session is being set up"
    if diagnostic is None and remote is None:
        return "the neighbor has not answered yet"
    # While only bfdd hears the other end, the session passes through init again and again and loses the
    # earlier state.
    said = f"the neighbor says: {remote}" if remote else None
    return "; ".join(word for word in (diagnostic, said) if word)


def _number(entry: Json, name: str) -> int:
    value = entry.get(name)
    return value if isinstance(value, int) else 0


def _text(entry: Json, name: str) -> str | None:
    value = entry.get(name)
    return value if isinstance(value, str) and value else None
