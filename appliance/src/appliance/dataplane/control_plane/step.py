"""The one step that changes what the router lets in for itself. Pure.

It stands in the phase ``create``: after routing has let go of a neighbor that is closed out, and before
routing starts one that is let in; before a new interface has addresses, and after one that goes has lost its
own.
"""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.services import Opening, Peer, Service, services
from appliance.dataplane.control_plane.policy import ControlPlane
from appliance.dataplane.object_step import ObjectStep

_SHOWN = 8
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
    peers = set(one.peers).difference(other.peers)
    links = set(one.links).difference(other.links)
    for reason, service in services().items():
        yield from _from_peers(service, [peer for peer in peers if peer.reason == reason])
        for link in sorted(link for link in links if link.reason == reason):
            yield f"{service.words} on {link.interface}"
    for opening in one.management:
        if opening not in other.management:
            yield _opened(opening)


def _from_peers(service: Service, peers: list[Peer]) -> Iterator[str]:
    place = {name: at for at, name in enumerate(service.forms)}
    for peer in sorted(peers, key=lambda peer: (peer.prefix, place[peer.form])):
        form = service.forms[peer.form]
        yield " ".join(filter(None, (form.words or service.words, "from", peer.source, form.detail)))


def _opened(opening: Opening) -> str:
    source = f" from {opening.source}" if opening.source else ""
    return f"{opening.service} on {opening.interface}{source}"
