"""Memifs."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.context import Context
from appliance.errors import Problem
from appliance.features.memif.model import Memif

_OF_THE_SLAVE = ("ring_size", "buffer_size", "rx_queues", "tx_queues")


def check(context: Context) -> Iterator[Problem]:
    """Interfaces of a socket have one role and ids of their own; what the slave decides is left to it."""
    role_of: dict[str, tuple[str, str]] = {}
    taken: dict[tuple[str, int], str] = {}
    for name, memif in sorted(context.config.interfaces_of(Memif)):
        path = f"/interfaces/{name}"
        other, role = role_of.setdefault(memif.socket, (name, memif.role))
        if role != memif.role:
            message = f"{other} is the {role} of this socket: a router does not connect to itself"
            yield Problem(f"{path}/socket", message)
        first = taken.setdefault((memif.socket, memif.id), name)
        if first != name:
            yield Problem(f"{path}/id", f"{memif.id} of socket {memif.socket} is already taken by {first}")
        if memif.mac is not None and (int(memif.mac[:2], 16) & 1 or memif.mac == "00:00:00:00:00:00"):
            message = f"{memif.mac} is a group address or zero: give a unicast address"
            yield Problem(f"{path}/mac", message)
        for field in _OF_THE_SLAVE if memif.role == "master" else ():
            if getattr(memif, field) != Memif.model_fields[field].default:
                yield Problem(f"{path}/{field}", "the slave decides it: set it at the other end")
