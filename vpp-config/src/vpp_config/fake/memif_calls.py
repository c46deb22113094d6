"""The fake's memifs. None of them finds its other end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from vpp_config.fake import tables as t
from vpp_config.fake.tables import RefusedError, Tables

_MASTER, _SLAVE = 0, 1
_NO_ID = 0xFFFFFFFF
_RUNTIME = "/run/vpp"


@dataclass(frozen=True)
class _Memif:
    socket_id: int
    number: int
    role: int


class MemifCalls:
    """Handlers of the messages about memifs, by message name."""

    def __init__(self, held: Tables) -> None:
        self._held = held
        self._sockets: dict[int, str] = {0: f"{_RUNTIME}/memif.sock"}
        self._memifs: dict[int, _Memif] = {}

    def memif_socket_filename_add_del_v2(
        self, is_add: bool, socket_id: int, socket_filename: str
    ) -> Mapping[str, Any]:
        """Gives a number its file name; giving the same again is no error, giving another is."""
        if socket_id in (0, _NO_ID) or (is_add and not socket_filename):
            raise RefusedError(t.INVALID_ARGUMENT)
        if not is_add:
            if socket_id not in self._sockets:
                raise RefusedError(t.INVALID_ARGUMENT)
            if any(memif.socket_id == socket_id for memif in self._there().values()):
                raise RefusedError(t.UNEXPECTED_INTF_STATE)
            del self._sockets[socket_id]
            return {"socket_id": socket_id}
        path = socket_filename if socket_filename.startswith("/") else f"{_RUNTIME}/{socket_filename}"
        if self._sockets.setdefault(socket_id, path) != path:
            raise RefusedError(t.ENTRY_ALREADY_EXISTS)
        return {"socket_id": socket_id}

    def memif_socket_filename_dump(self) -> list[SimpleNamespace]:
        """All."""
        return [
            SimpleNamespace(socket_id=number, socket_filename=path) for number, path in self._sockets.items()
        ]

    def memif_create_v2(self, **fields: Any) -> Mapping[str, Any]:
        """One interface for each number on a socket, whose interfaces are all masters or all slaves."""
        socket_id, number, role = fields["socket_id"], fields["id"], fields["role"]
        ring_size = fields.get("ring_size", 0)
        if socket_id not in self._sockets or ring_size & (ring_size - 1):
            raise RefusedError(t.INVALID_ARGUMENT)
        others = [memif for memif in self._there().values() if memif.socket_id == socket_id]
        if any(memif.role != role or memif.number == number for memif in others):
            raise RefusedError(t.SUBIF_ALREADY_EXISTS)
        row = self._held.add_interface(f"memif{socket_id}/{number}", "memif", str(fields["hw_addr"]))
        row.any_link_mtu = True
        self._memifs[row.index] = _Memif(socket_id, number, role)
        return {"sw_if_index": row.index}

    def memif_delete(self, sw_if_index: int) -> None:
        """By index."""
        if sw_if_index not in self._there():
            raise RefusedError(t.INVALID_SW_IF_INDEX)
        self._held.remove_interface(sw_if_index)

    def memif_dump(self) -> list[SimpleNamespace]:
        """All memifs. Unconnected, they have rings of one entry without a buffer, whatever was requested."""
        rows = self._held.interfaces
        return [
            SimpleNamespace(
                sw_if_index=index,
                hw_addr=rows[index].mac,
                id=memif.number,
                role=memif.role,
                mode=0,
                zero_copy=memif.role == _SLAVE,
                socket_id=memif.socket_id,
                ring_size=1,
                buffer_size=0,
                flags=int(rows[index].up),
                if_name=rows[index].vpp_name,
            )
            for index, memif in self._there().items()
        ]

    def _there(self) -> dict[int, _Memif]:
        """Memifs whose interface was not removed, nor its index reused."""
        rows = self._held.interfaces
        return {
            index: memif
            for index, memif in self._memifs.items()
            if index in rows and rows[index].kind == "memif"
        }
