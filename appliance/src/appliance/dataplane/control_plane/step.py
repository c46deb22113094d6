"""The one step that changes what the router lets in for itself. Pure.

It stands in the phase ``create``: after routing has let go of a neighbor that is closed out, and before
routing starts one that is let in; before a new interface has addresses, and after one that goes has lost its
own.
"""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.ip_protocols import PROTOCOLS
from appliance.dataplane.control_plane.policy import ControlPlane, Opening
from appliance.dataplane.object_step import ObjectStep

_SHOWN = 8
_PROTOCOLS = {number: name.upper() for name, number in PROTOCOLS.items()}
WHAT = "protection of the router itself"


def plan_control_plane(wanted: ControlPlane, found: ControlPlane | None) -> list[ObjectStep]:
    """None where it is as wanted."""
    if wanted == found:
        return []
    verb, opposite = ("add", "remove") if found is None else ("change", "change back")
    return [
        ObjectStep(
            "create", f"{verb} {WHAT}{describe(found, wanted)}", f"{opposite} {WHAT}", "none", "", wanted.key,
            found, wanted,
        )
    ]  # fmt: skip


def describe(before: ControlPlane | None, after: ControlPlane) -> str:
    """What is opened and what is closed, behind a colon."""
    old = before or ControlPlane()
    changed = ["restore what somebody altered"] if old.altered else []
    for verb, one, other in (("open", after, old), ("close", old, after)):
        changed += [f"{verb} {what}" for what in _more(one, other)]
    shown = "; ".join(changed[:_SHOWN]) + ("; …" if len(changed) > _SHOWN else "")
    return f": {shown}" if shown else ""


def _more(one: ControlPlane, other: ControlPlane) -> Iterator[str]:
    """What the one lets in and the other does not."""
    for peer in one.bgp:
        if peer not in other.bgp:
            ttl = f" with TTL {peer.least_ttl} or more" if peer.least_ttl else ""
            yield f"BGP from {_host(peer.prefix)}{ttl}"
    for name in one.ospf:
        if name not in other.ospf:
            yield f"OSPF on {name}"
    for session in one.bfd:
        if session not in other.bfd:
            yield f"BFD from {_host(session.prefix)}{' over several hops' if session.multihop else ''}"
    for name in one.bfd_links:
        if name not in other.bfd_links:
            yield f"BFD on {name}"
    for end in one.tunnels:
        if end not in other.tunnels:
            yield f"{_PROTOCOLS.get(end.protocol, end.protocol)} from {_host(end.prefix)}"
    for opening in one.management:
        if opening not in other.management:
            yield _opened(opening)


def _opened(opening: Opening) -> str:
    source = f" from {opening.source}" if opening.source else ""
    return f"{opening.service} on {opening.interface}{source}"


def _host(prefix: str) -> str:
    address, _, length = prefix.partition("/")
    return address if length == ("128" if ":" in address else "32") else prefix
