"""The fake's tunnels of IP in IP."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from vpp_config.fake import tables as t
from vpp_config.fake.tables import RefusedError, Tables

_ANY_NUMBER = 0xFFFFFFFF


class IpipCalls:
    """Handlers of the messages about IP in IP, by message name."""

    def __init__(self, held: Tables) -> None:
        self._held = held
        self._tunnels: dict[int, Mapping[str, Any]] = {}
        """By the interface's index."""

    def ipip_add_tunnel(self, tunnel: Mapping[str, Any]) -> Mapping[str, Any]:
        """One tunnel for each pair of addresses; it has no MAC address, and an MTU of 9000."""
        if tunnel["src"].version != tunnel["dst"].version or tunnel["src"] == tunnel["dst"]:
            raise RefusedError(t.INVALID_VALUE)
        assert tunnel["instance"] == _ANY_NUMBER and tunnel["mode"] == 0
        if any(_ends(one) == _ends(tunnel) for one in self._tunnels.values()):
            raise RefusedError(t.IF_ALREADY_EXISTS)
        names = {row.vpp_name for row in self._held.interfaces.values()}
        number = next(number for number in range(len(names) + 1) if f"ipip{number}" not in names)
        row = self._held.add_interface(f"ipip{number}", "IPIP tunnel device", t.NO_MAC)
        self._tunnels[row.index] = {**tunnel, "instance": number, "sw_if_index": row.index}
        return {"sw_if_index": row.index}

    def ipip_del_tunnel(self, sw_if_index: int) -> Mapping[str, Any]:
        """By the interface's index."""
        if self._tunnels.pop(sw_if_index, None) is None:
            raise RefusedError(t.NO_SUCH_ENTRY)
        self._held.remove_interface(sw_if_index)
        return {}

    def ipip_tunnel_dump(self, sw_if_index: int) -> list[SimpleNamespace]:
        """One tunnel, or all."""
        return [
            SimpleNamespace(tunnel=SimpleNamespace(**tunnel))
            for index, tunnel in self._tunnels.items()
            if sw_if_index in (index, 0xFFFFFFFF)
        ]


def _ends(tunnel: Mapping[str, Any]) -> tuple[Any, ...]:
    return tunnel["src"], tunnel["dst"], tunnel["table_id"]
