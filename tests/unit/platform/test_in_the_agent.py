"""The boot's findings, as the agent's VPP data plane reports them."""

from __future__ import annotations

from pathlib import Path

from appliance.config.load import parse_document
from appliance.config.validate import check
from appliance.dataplane import nic_inventory
from appliance.dataplane.nic_inventory import NicRecord
from appliance.dataplane.vpp.backend import VppDataplane
from vpp_config import AfPacket, Ethernet, Session, VppState, plan
from vpp_config.fake import FakeVpp

NOTE = "af_packet, because it cannot be bound"
RECORD = NicRecord(
    "ens192",
    "00:50:56:00:00:04",
    "0000:0b:00.0",
    "0000:0b:00.0",
    "15ad:07b0",
    "af_packet",
    None,
    NOTE,
)


def dataplane(tmp_path: Path, vpp: FakeVpp, *, dpdk: bool = True) -> VppDataplane:
    inventory = tmp_path / "nics.json"
    nic_inventory.write([RECORD], inventory)
    nowhere = tmp_path / "none"
    return VppDataplane(
        nowhere, nowhere, None, "no-such-namespace", None, client=vpp, nic_inventory=inventory, dpdk=dpdk
    )


def test_an_interface_says_why_its_nic_is_slow(tmp_path: Path) -> None:
    vpp = FakeVpp()
    session = Session(vpp)
    wanted = VppState.of(
        [
            Ethernet("wan", AfPacket("ens192"), mac="00:50:56:00:00:04"),
            Ethernet("lab", AfPacket("veth0"), mac="02:00:00:00:00:01"),
        ]
    )
    for step in plan(wanted, VppState.of(())):
        session.apply(step)
    backend = dataplane(tmp_path, vpp)
    try:
        notes = {row.name: row.note for row in backend.interfaces_state()}
    finally:
        backend.close()
    assert notes == {"wan": NOTE, "lab": None}


def test_dpdk_is_refused_at_validation_where_vpp_lacks_it(tmp_path: Path) -> None:
    document = parse_document(
        '{"schema_version": 1, "interfaces": {"wan": {"type": "ethernet", "driver": "dpdk",'
        ' "match": {"mac": "00:50:56:00:00:04"}}}}'
    )
    for dpdk, problems in ((True, []), (False, ["/interfaces/wan/driver"])):
        backend = dataplane(tmp_path, FakeVpp(), dpdk=dpdk)
        try:
            found = check(document, backend.capabilities())
        finally:
            backend.close()
        assert [problem.pointer for problem in found] == problems
