"""A memif: a shared-memory interface to another process of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from vpp_config.access import Access
from vpp_config.client import Reply, Request, request
from vpp_config.dumps import Dumps, InterfaceRow
from vpp_config.leftover import Leftover
from vpp_config.objects.base import Interface, check_mac, check_name
from vpp_config.objects.link import change, settle
from vpp_config.objects.memif_socket import rings_of, socket_token

_MEMIFS = request("memif_dump")
_MASTER, _SLAVE = 0, 1
_ETHERNET = 0
_MAX = 2**32 - 1


def _token(socket_id: int, number: int) -> str:
    return f"memif/{socket_id}/{number}"


@dataclass(frozen=True)
class Memif(Interface):
    """VPP's ``memif<socket_id>/<number>``, with Ethernet frames. ``socket_id`` is that of a
    ``MemifSocket``, which holds role and rings; ``number`` is the same at both ends. ``mac`` is pinned,
    because VPP would otherwise take a random one.
    """

    kind = "memif"
    plugins = ("memif",)
    tables: ClassVar[tuple[Request, ...]] = (_MEMIFS,)
    clears = ("memif",)
    gone: ClassVar = {"memif_delete": frozenset({-2})}
    takes_vlans = True

    name: str
    socket_id: int
    number: int
    mac: str
    mtu: int = 1500
    enabled: bool = True

    def __post_init__(self) -> None:
        check_name(self.name)
        if not (0 <= self.socket_id <= _MAX and 0 <= self.number <= _MAX):
            raise ValueError(f"socket_id or number is outside 0..{_MAX}")
        object.__setattr__(self, "mac", check_mac(self.mac))

    def requires(self) -> tuple[str, ...]:
        """The socket."""
        return (socket_token(self.socket_id),)

    def needs_recreate(self, before: Memif) -> bool:
        """Everything but MTU and state: VPP takes the rest only when it makes the interface."""
        return (self.socket_id, self.number, self.mac) != (before.socket_id, before.number, before.mac)

    def occupies(self) -> str:
        """The number on the socket."""
        return _token(self.socket_id, self.number)

    def create(self, vpp: Access) -> None:
        """Create, tag, set the MTU. The link comes up once the other end exists."""
        rings = rings_of(self.socket_id)
        offered = (
            {}
            if rings is None
            else {
                "ring_size": rings.ring_size,
                "buffer_size": rings.buffer_bytes,
                "rx_queues": rings.rx_queues,
                "tx_queues": rings.tx_queues,
            }
        )
        reply = vpp.call(
            "memif_create_v2",
            role=_MASTER if rings is None else _SLAVE,
            mode=_ETHERNET,
            id=self.number,
            socket_id=self.socket_id,
            hw_addr=self.mac,
            **offered,
        )
        settle(vpp, self, int(reply.sw_if_index), has_link_mtu=True)

    def update(self, before: Memif, vpp: Access) -> None:
        """MTU and state in place."""
        change(vpp, self, before, has_link_mtu=True)

    def delete(self, vpp: Access) -> None:
        """Remove it; the other end's link goes down."""
        vpp.call("memif_delete", sw_if_index=vpp.index_of(self.name))
        vpp.forget(self.provides)

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[Memif]:
        """Our tagged memifs."""
        memifs = dumps.derived(_by_index)
        for row in dumps.tagged_interfaces():
            memif = memifs.get(row.index)
            if memif is not None:
                yield cls(row.name, int(memif.socket_id), int(memif.id), row.mac, row.l3_mtu, row.up)

    @classmethod
    def occupied_by(cls, row: InterfaceRow, dumps: Dumps) -> str | None:
        """Socket and number of a memif."""
        memif = dumps.derived(_by_index).get(row.index)
        return None if memif is None else _token(int(memif.socket_id), int(memif.id))

    @classmethod
    def clear(cls, leftover: Leftover, vpp: Access) -> None:
        """Remove it."""
        vpp.call("memif_delete", sw_if_index=leftover.index)


def _by_index(dumps: Dumps) -> Mapping[int, Reply]:
    return {reply.sw_if_index: reply for reply in dumps.table(_MEMIFS)}
