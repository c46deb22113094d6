"""Memifs in VPP. Pure."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import vpp_config as vpp
from appliance.config.pointer import join
from appliance.dataplane.vpp.numbers import stable_numbers
from appliance.dataplane.wanted import Wanted
from appliance.features.memif.model import Memif

PATHS = {vpp.Memif.kind: lambda name: join(["interfaces", name])}
_MAX_SOCKETS = 2**17 - 1


def objects(wanted: Wanted) -> Iterator[vpp.VppObject]:
    """The interface, and its socket once."""
    memifs = dict(wanted.config.interfaces_of(Memif))
    numbers = stable_numbers({one.socket for one in memifs.values()}, _MAX_SOCKETS)
    sockets = {name: _socket(one, numbers[one.socket]) for name, one in memifs.items()}
    yield from dict.fromkeys(sockets.values())
    for name, one in memifs.items():
        yield vpp.Memif(
            name, sockets[name].socket_id, one.id, one.mac or _mac(one), mtu=one.mtu, enabled=one.enabled
        )


def _socket(one: Memif, number: int) -> vpp.MemifSocket:
    rings = vpp.MemifRings(one.ring_size, one.buffer_size, one.rx_queues, one.tx_queues)
    return vpp.MemifSocket(one.socket, number, rings if one.role == "slave" else None)


def _mac(one: Memif) -> str:
    """Locally administered. The ends of a link differ, since their roles do."""
    digest = zlib.crc32(f"{one.role}/{one.socket}/{one.id}".encode())
    return ":".join(f"{byte:02x}" for byte in b"\x02\xfe" + digest.to_bytes(4, "big"))
