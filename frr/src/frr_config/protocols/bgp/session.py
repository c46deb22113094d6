"""BGP sessions in brief, as bgpd's summary shows them, and why a session is down, in words a person can
act on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from frr_config.protocols.augments import of
from frr_config.protocols.bgp.model import BGP_SESSION
from frr_config.state import State

Json = Mapping[str, Any]
ESTABLISHED = "Established"
OVER_LIMIT = "(PfxCt)"
"""bgpd appends this to the state of a session that it closed for too many prefixes and does not reopen."""


class Down(NamedTuple):
    """Why a session is down, with bgpd's own words, and what to do."""

    reason: str
    advice: str


@dataclass(frozen=True, slots=True)
class BgpSession:
    """A session. Texts may hold what the neighbor said."""

    address: str
    state: str
    """As bgpd's summary shows it: ``Established``, ``Active``, ``Idle (PfxCt)``."""
    description: str = ""
    remote_asn: int | None = None
    established_count: int = 0
    """How many times it has come up."""
    since_s: float | None = None
    """How long it has been up or down; None where it has never been up."""
    due_to: str | None = None
    """bgpd's reason for the last reset, or what it waits for."""
    notification: str | None = None
    """The notification that ended it, if any."""

    @property
    def is_established(self) -> bool:
        """Whether routes are exchanged."""
        return self.state == ESTABLISHED

    @property
    def is_over_limit(self) -> bool:
        """Whether it was closed for too many prefixes and waits to be cleared."""
        return OVER_LIMIT in self.state

    @property
    def down(self) -> Down:
        """Why it is down."""
        return why_down(self.state, self.due_to, self.notification)


def sessions(frr: State) -> dict[str, BgpSession]:
    """Every session by address: two questions, half a kilobyte for each neighbor, however many routes it
    has.
    """
    summary = dict(_peers(frr.bgp_summary()))
    if all(peer.get("state") == ESTABLISHED for peer in summary.values()):
        return {address: _session(address, peer, {}) for address, peer in summary.items()}
    failed = dict(_peers(frr.bgp_failures()))
    return {address: _session(address, peer, failed.get(address, {})) for address, peer in summary.items()}


def _peers(shown: Json) -> Iterator[tuple[str, Json]]:
    """A neighbor with two families is one session."""
    for family in shown.values():
        peers = family.get("peers") if isinstance(family, dict) else None
        for address, peer in (peers or {}).items():
            if isinstance(peer, dict):
                yield str(address), peer


def _session(address: str, peer: Json, failed: Json) -> BgpSession:
    asn, count = peer.get("remoteAs"), peer.get("connectionsEstablished")
    up_ms = peer.get("peerUptimeMsec")
    ever = peer.get("peerUptime") != "never" and isinstance(up_ms, int)
    return BgpSession(
        address,
        state=str(peer.get("state", "")),
        description=str(peer.get("desc", "")),
        remote_asn=asn if isinstance(asn, int) else None,
        established_count=count if isinstance(count, int) else 0,
        since_s=up_ms / 1000 if ever and isinstance(up_ms, int) else None,
        due_to=_text(failed, "lastResetDueTo"),
        notification=_text(failed, "lastNotificationReason"),
    )


def state_of(detail: Json) -> str:
    """The summary's word for the state, derived from bgpd's answer about one neighbor."""
    state = str(detail.get("bgpState", ""))
    if state == "Idle" and detail.get("prefixesConfigExceedMax"):
        return f"Idle {OVER_LIMIT}"
    return "Idle (Admin)" if state == "Idle" and detail.get("adminShutDown") else state


_STATES = {
    OVER_LIMIT: Down(
        "closed on this router: the neighbor sent more prefixes than its maximum allows",
        "Raise the maximum of prefixes, or have the neighbor send fewer; then clear the session: FRR does "
        "not open it again by itself.",
    ),
    "(Admin)": Down("shut down on this router", "Enable the neighbor to set the session up."),
}
_WORDS = {
    "Bad Peer AS": Down(
        "the AS number of the neighbor is not the one that is expected",
        "Compare the AS numbers on both ends: the remote AS here with the neighbor's own, and the other way "
        "round.",
    ),
    "Maximum Number of Prefixes": Down(
        "the neighbor closed it: this router sent more prefixes than the neighbor allows",
        "Send fewer prefixes (route map out), or have the limit raised on the neighbor and the session "
        "cleared there.",
    ),
    "Administrative Shutdown": Down(
        "the neighbor has shut it down", "Ask whoever runs the neighbor: it was done on purpose."
    ),
    "Peer Unconfigured": Down(
        "the neighbor has removed this router from its configuration",
        "Have this router's address configured on the neighbor.",
    ),
    "Hold Timer Expired": Down(
        "nothing was heard of the neighbor for the hold time",
        "Ping the neighbor, and look at the link and at the drops of the interface towards it.",
    ),
    "Unsupported Capability": Down(
        "the two ends have no address family in common", "Enable the same address families on both ends."
    ),
    "BGP Identifier": Down("both ends have the same router ID", "Give each router a router ID of its own."),
    "Waiting for NHT": Down(
        "no route to the neighbor",
        "Look at the interface and the route towards the neighbor. One that is not directly connected needs "
        "eBGP multihop.",
    ),
    "No path to specified Neighbor": Down(
        "no route to the neighbor",
        "Look at the interface and the route towards the neighbor. One that is not directly connected needs "
        "eBGP multihop.",
    ),
    "Waiting for peer OPEN": Down(
        "the neighbor does not answer",
        "Ping the neighbor. Then compare both ends: addresses, password, TTL security, and whether TCP port "
        "179 is let in.",
    ),
    "Interface down": Down(
        "the interface towards the neighbor is down", "Mend the link: see the interface's own alarm."
    ),
    "Peer closed the session": Down(
        "the neighbor closed the connection",
        "Look at the neighbor's log. Often the password or the address differs on the two ends.",
    ),
    "No AFI/SAFI activated": Down(
        "no address family is enabled for the neighbor", "Enable IPv4 unicast or IPv6 unicast for it."
    ),
    "User reset": Down("it was cleared", "It comes back by itself within the connect retry time."),
    **{part: Down(*said) for one in of(BGP_SESSION) for part, said in one.why_down.items()},
}
"""Looked up by a part of bgpd's text; the first match counts. A text without a match is shown in bgpd's
own words.
"""
_RECEIVED_ONLY = ("Maximum Number of Prefixes", "Administrative Shutdown", "Peer Unconfigured")
"""The meaning of these depends on which end sent the notification."""
_UNKNOWN = Down("it does not come up", "Ping the neighbor, and compare the configuration of both ends.")


def why_down(state: str, due_to: str | None, notification: str | None) -> Down:
    """The reason, followed by bgpd's own words, and the advice for a session in this state."""
    said = ": ".join(word for word in (due_to, notification if _by_notification(due_to) else None) if word)
    own_words = "; ".join(word for word in (state, said) if word)
    known = next((down for mark, down in _STATES.items() if mark in state), None)
    if known is None:
        received = "received" in (due_to or "")
        known = next(
            (
                down
                for mark, down in _WORDS.items()
                if mark in said and (received or mark not in _RECEIVED_ONLY)
            ),
            _UNKNOWN,
        )
    return Down(f"{known.reason} (FRR: {own_words})" if own_words else known.reason, known.advice)


def _by_notification(due_to: str | None) -> bool:
    """bgpd keeps a notification afterwards: it is the reason only where bgpd says so."""
    return due_to is None or "Notification" in due_to


def _text(entry: Json, name: str) -> str | None:
    value = entry.get(name)
    return value if isinstance(value, str) and value else None
