"""The objects that a bench makes in VPP, in addition to the document's, and removes again.

::

    generator --- memif, 198.18.0.1/24 [ VPP, an IPv4 table of its own ] 198.19.0.1/24, memif --- generator

Addresses are those of benchmarks (RFC 6890, 198.18.0.0/15). None of the objects carries the mark by which the
agent knows the document's objects, so they are neither shown, counted nor mirrored, and are no drift. They
have a mark of their own: the table's name, the folder of the sockets, and the marks of a load. By that
``sweep`` finds what is left of a bench whose agent was killed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from ipaddress import ip_address, ip_interface, ip_network
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from appliance.bench.generator import mac_of
from appliance.bench.load import Ends, loads

if TYPE_CHECKING:
    # A machine without VPP does not load what drives it.
    from appliance.bench.scenarios import Scenario
    from vpp_config import VppClient
    from vpp_config.client import Reply, Request

MACS = ("02:fe:62:00:00:00", "02:fe:62:00:00:01")
"""Addresses of VPP's ends, left and right."""
PLUGIN = "memif"
RECEIVING_NODE = "memif-input"
"""Its clocks include empty polls, so they belong to no packet."""
_OF_AN_INTERFACE = re.compile(r"(?:interface-\d+|memif\d+/0)-(output|tx)(?:-deleted)?$")
_NAME = "millrace-bench"
_SIDES = ("left", "right")
_NETWORKS = ("198.18.0", "198.19.0")
_BEHIND = ("16.0.0.0/8", "48.0.0.0/8")
_MASTER, _ETHERNET, _IP4 = 0, 0, 0
_FIRST_TABLE, _FIRST_SOCKET = 2**32 - 2, 2**31 - 1
"""The highest free numbers are taken. A socket of the document has bit 31 set, these do not."""
_STATIC, _ADMIN_UP = 1, 1
MTU_BYTES = 1500


def is_possible(vpp: VppClient) -> bool:
    """Whether this VPP has the plugin. Raises VppError."""
    return vpp.supports("memif_create_v2")


def of_both_sides(node: str) -> str:
    """A node of VPP's graph, without its side: the nodes of an interface have its name in theirs, or its
    number once it is gone.
    """
    found = _OF_AN_INTERFACE.match(node)
    return f"{PLUGIN}-{found[1]}" if found else node


def build(vpp: VppClient, tables_in_use: frozenset[int], scenario: Scenario) -> tuple[str, ...]:
    """Make it; where the generator connects, left and right. Raises VppError, Conflict, with some of it made.

    ``tables_in_use`` are numbers of the document, which VPP may not have yet.
    """
    taken = tables_in_use | {int(row.table.table_id) for row in vpp.dump("ip_table_dump")}
    table = next(number for number in range(_FIRST_TABLE, 0, -1) if number not in taken)
    vpp.call(
        "ip_table_add_del_v2",
        is_add=True,
        create_mfib=True,
        table={"table_id": table, "is_ip6": False, "name": _NAME},
    )
    sockets = {int(row.socket_id) for row in vpp.dump("memif_socket_filename_dump")}
    indexes = []
    for side, name in enumerate(_SIDES):
        socket = next(number for number in range(_FIRST_SOCKET, 0, -1) if number not in sockets)
        sockets.add(socket)
        vpp.call(
            "memif_socket_filename_add_del_v2",
            is_add=True,
            socket_id=socket,
            socket_filename=f"{_NAME}/{name}.sock",
        )
        made = vpp.call(
            "memif_create_v2", role=_MASTER, mode=_ETHERNET, id=0, socket_id=socket, hw_addr=MACS[side]
        )
        indexes.append(int(made.sw_if_index))
        _configure(vpp, indexes[-1], side, table)
    if scenario.load is not None:
        left, right = indexes
        ends = Ends(table, (left, right), f"{_NETWORKS[0]}.2", f"{_NETWORKS[1]}.1")
        scenario.load.put(vpp, scenario.size, ends)
    files = {
        path.stem: f"memif:{path}:0"
        for row in vpp.dump("memif_socket_filename_dump")
        if _is_ours(path := PurePosixPath(row.socket_filename))
    }
    return tuple(files[name] for name in _SIDES)


def _configure(vpp: VppClient, index: int, side: int, table: int) -> None:
    hop = ip_address(f"{_NETWORKS[side]}.2")
    vpp.call("sw_interface_set_mtu", sw_if_index=index, mtu=[MTU_BYTES, 0, 0, 0])
    vpp.call("sw_interface_set_table", sw_if_index=index, is_ipv6=False, vrf_id=table)
    vpp.call(
        "sw_interface_add_del_address",
        sw_if_index=index,
        is_add=True,
        del_all=False,
        prefix=ip_interface(f"{_NETWORKS[side]}.1/24"),
    )
    vpp.call("sw_interface_set_flags", sw_if_index=index, flags=_ADMIN_UP)
    neighbor = {"sw_if_index": index, "flags": _STATIC, "mac_address": mac_of(side), "ip_address": hop}
    vpp.call("ip_neighbor_add_del", is_add=True, neighbor=neighbor)
    path = {
        "sw_if_index": index, "table_id": 0, "rpf_id": 0xFFFFFFFF, "weight": 1, "preference": 0, "type": 0,
        "flags": 0, "proto": _IP4, "nh": {"address": {"ip4": hop}}, "n_labels": 0, "label_stack": [{}] * 16,
    }  # fmt: skip
    route = {"table_id": table, "prefix": ip_network(_BEHIND[side]), "n_paths": 1, "paths": [path]}
    vpp.call("ip_route_add_del", is_add=True, is_multipath=False, route=route)


def sweep(vpp: VppClient) -> None:
    """Remove whatever exists of a bench. Raises VppError; ``remains`` says what VPP kept."""
    if not vpp.supports("memif_dump"):
        return
    sockets = _sockets(vpp)
    memifs = [row for row in vpp.dump("memif_dump") if int(row.socket_id) in sockets]
    tables = [int(row.table.table_id) for row in vpp.dump("ip_table_dump") if _is_our_table(row)]
    for load in loads().values():
        load.take_from(vpp, [int(row.sw_if_index) for row in memifs])
    for row in memifs:
        # A missing part of a half-made bench is no reason to stop.
        vpp.pipeline(list(_undone(int(row.sw_if_index))))
    for number in tables:
        vpp.pipeline(list(_emptied(number)))
    for number in sockets:
        vpp.call("memif_socket_filename_add_del_v2", is_add=False, socket_id=number, socket_filename="")


def remains(vpp: VppClient) -> int:
    """How many objects of a bench exist."""
    tables = sum(map(_is_our_table, vpp.dump("ip_table_dump")))
    return len(_sockets(vpp)) + tables + sum(load.remains(vpp) for load in loads().values())


def _undone(index: int) -> Iterator[Request]:
    from vpp_config.client import request

    yield request("sw_interface_set_flags", sw_if_index=index, flags=0)
    yield request("sw_interface_add_del_address", sw_if_index=index, is_add=False, del_all=True)
    yield request("sw_interface_set_table", sw_if_index=index, is_ipv6=False, vrf_id=0)
    yield request("memif_delete", sw_if_index=index)


def _emptied(number: int) -> Iterator[Request]:
    from vpp_config.client import request

    table = {"table_id": number, "is_ip6": False, "name": ""}
    # Its interfaces, which a flush would take down, are gone.
    yield request("ip_table_flush", table=table)
    yield request("ip_table_add_del_v2", is_add=False, create_mfib=True, table=table)


def _sockets(vpp: VppClient) -> Sequence[int]:
    if not vpp.supports("memif_socket_filename_dump"):
        return ()
    return [
        int(row.socket_id)
        for row in vpp.dump("memif_socket_filename_dump")
        if _is_ours(PurePosixPath(row.socket_filename))
    ]


def _is_ours(path: PurePosixPath) -> bool:
    return path.parent.name == _NAME and path.suffix == ".sock" and path.stem in _SIDES


def _is_our_table(row: Reply) -> bool:
    return bool(row.table.name == _NAME and not row.table.is_ip6)
