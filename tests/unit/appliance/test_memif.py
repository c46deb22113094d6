"""Memifs: compiled for VPP, and refused by name where the kernel forwards."""

from __future__ import annotations

from typing import Any

import pytest

import vpp_config as vpp
from appliance.compile import CompileContext, compile_document
from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.validate import check
from appliance.dataplane.kernel_need import lacking
from appliance.features.registry import declared
from vpp_config.objects.memif_socket import BUFFER_BYTES, rings_of

Json = dict[str, Any]


def _compile(**memifs: Json) -> dict[str, Any]:
    document = {"interfaces": {name: {"type": "memif", **one} for name, one in memifs.items()}}
    desired = compile_document(parse_document(document), "vpp", CompileContext(()))["vpp"]
    return {item.key: item for item in desired.objects.values()}


def test_interfaces_of_one_socket_share_it_and_other_rings_have_another() -> None:
    one = {"role": "slave", "socket": "left"}
    objects = _compile(m0=one, m1={**one, "id": 1}, m2={**one, "id": 2, "ring_size": 4096})
    sockets = {item.socket_id: item for item in objects.values() if isinstance(item, vpp.MemifSocket)}
    assert [item.name for item in sockets.values()] == ["left", "left"]
    rings = [sockets[objects[f"memif/m{number}"].socket_id].rings for number in range(3)]
    assert rings == [vpp.MemifRings(), vpp.MemifRings(), vpp.MemifRings(ring_size=4096)]
    assert objects["lcp_pair/m0"].host_if_name == "m0"


def test_the_two_ends_have_mac_addresses_of_their_own_that_stay() -> None:
    end = {"socket": "left", "id": 7}
    macs = [_compile(m0={**end, "role": role})["memif/m0"].mac for role in ("master", "slave", "slave")]
    assert macs[0] != macs[1] == macs[2]
    assert all(mac.startswith("02:fe:") for mac in macs)
    assert _compile(m0={**end, "role": "slave", "mac": "02:00:00:00:00:09"})["memif/m0"].mac.endswith(":09")


@pytest.mark.parametrize("ring_size", [128, 1024, 16384])
@pytest.mark.parametrize("buffer_bytes", BUFFER_BYTES)
@pytest.mark.parametrize("queues", [(1, 1), (16, 16), (1, 16)])
def test_the_number_of_a_socket_tells_its_rings(
    ring_size: int, buffer_bytes: int, queues: tuple[int, int]
) -> None:
    rings = vpp.MemifRings(ring_size, buffer_bytes, *queues)
    socket = vpp.MemifSocket("left", 131070, rings)
    assert rings_of(socket.socket_id) == rings
    assert socket.socket_id & 131070 == 131070
    assert 2**31 < socket.socket_id < 2**32 - 1
    assert rings_of(vpp.MemifSocket("left", 131070).socket_id) is None


def test_the_linux_data_plane_refuses_it_by_name() -> None:
    lacks = lacking(declared("linux", "NEEDS"), lambda link: link != "memif")
    assert set(lacks) == {"memif"}
    document = {"interfaces": {"m0": {"type": "memif", "role": "slave", "socket": "left"}}}
    (problem,) = check(parse_document(document), Capabilities("linux", lacking=lacks))
    assert problem.pointer == "/interfaces/m0/type"
    assert "shared memory" in problem.message
