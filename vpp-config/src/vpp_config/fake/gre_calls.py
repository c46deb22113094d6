"""The fake's GRE tunnels."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from vpp_config.fake import tables as t
from vpp_config.fake.tables import RefusedError, Tables

_LAYER_3, _ANY_NUMBER = 0, 0xFFFFFFFF


class GreCalls:
    """Handlers of the messages about GRE, by message name."""

    def __init__(self, held: Tables) -> None:
        self._held = held
        self._tunnels: dict[int, Mapping[str, Any]] = {}
        """Deletes a tunnel by the interface's index."""

    def gre_tunnel_add_del_v2(self, is_add: bool, tunnel: Mapping[str, Any]) -> Mapping[str, Any]:
        """One tunnel for each pair of addresses; it has no MAC address, and an MTU of 9000."""
        if tunnel["src"].version != tunnel["dst"].version or tunnel["src"] == tunnel["dst"]:
            raise RefusedError(t.INVALID_VALUE)
        assert tunnel["type"] == _LAYER_3 and tunnel["instance"] == _ANY_NUMBER
        found = next((index for index, one in self._tunnels.items() if _ends(one) == _ends(tunnel)), None)
        if not is_add:
            if found is None:
                raise RefusedError(t.NO_SUCH_ENTRY)
            del self._tunnels[found]
            self._held.remove_interface(found)
            return {"sw_if_index": found}
        if found is not None:
            raise RefusedError(t.IF_ALREADY_EXISTS)
        names = {row.vpp_name for row in self._held.interfaces.values()}
        number = next(number for number in range(len(names) + 1) if f"gre{number}" not in names)
        row = self._held.add_interface(f"gre{number}", "gre", t.NO_MAC)
        self._tunnels[row.index] = {**tunnel, "instance": number, "sw_if_index": row.index}
        return {"sw_if_index": row.index}

    def gre_tunnel_v2_dump(self, sw_if_index: int) -> list[SimpleNamespace]:
        """One tunnel, or all."""
        return [
            SimpleNamespace(tunnel=SimpleNamespace(**tunnel))
            for index, tunnel in self._tunnels.items()
            if sw_if_index in (index, 0xFFFFFFFF)
        ]


def _ends(tunnel: Mapping[str, Any]) -> tuple[Any, ...]:
    return tunnel["src"], tunnel["dst"], tunnel["key"], tunnel["outer_table_id"]
