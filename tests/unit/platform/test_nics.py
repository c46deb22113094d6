"""The data NICs at boot: bound before VPP sees them, recorded for later programs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from appliance.compile import CompileContext, compile_document
from appliance.config.load import parse_document
from appliance.dataplane import nic_inventory
from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.nic import Nic
from appliance.dataplane.nic_inventory import NicRecord, merge
from appliance.errors import ValidationFailed
from appliance.features.ethernet.model import Ethernet
from appliance.platform import names_memory
from appliance.platform.binding import BindingFailed
from appliance.platform.identity import Identity
from appliance.platform.management import Management
from appliance.platform.management import read as read_management
from appliance.platform.nics import left_to_the_kernel, recognise, settle
from appliance.platform.pci import PciNic
from vpp_config import AfPacket, Dpdk, VirtioPci
from vpp_config import Ethernet as VppEthernet

MANAGEMENT = PciNic("0000:00:03.0", "1af4:1000", "ens3", "52:54:00:00:00:01", "virtio-pci", legacy_io=True)
VIRTIO = PciNic("0000:00:04.0", "1af4:1000", "ens4", "52:54:00:00:00:02", "virtio-pci", legacy_io=True)
MODERN = PciNic("0000:01:00.0", "1af4:1041", "enp1s0", "52:54:00:00:00:03", "virtio-pci")
VMXNET3 = PciNic("0000:0b:00.0", "15ad:07b0", "ens192", "00:50:56:00:00:04", "vmxnet3")
E1000 = PciNic("0000:00:06.0", "8086:100e", "ens6", "52:54:00:00:00:05", "e1000")
ALL = (VIRTIO, MODERN, VMXNET3, E1000)


@dataclass
class FakeHands:
    """Remembers what was done; refuses what it is told to."""

    refuses: frozenset[str] = frozenset()
    done: list[tuple[str, str]] = field(default_factory=list)

    def bind(self, pci_address: str, driver: str) -> None:
        if pci_address in self.refuses:
            raise BindingFailed(f"{driver} does not take {pci_address}")
        self.done.append((pci_address, driver))

    def release(self, pci_address: str) -> str | None:
        self.done.append((pci_address, "released"))
        return "eth0"


def ethernet(**match: str) -> Ethernet:
    driver = match.pop("driver", "auto")
    return Ethernet.model_validate({"type": "ethernet", "match": match, "driver": driver})


def boot(
    nics: tuple[PciNic, ...] = ALL,
    ethernets: tuple[Ethernet, ...] = (),
    hands: FakeHands | None = None,
    *,
    before: tuple[NicRecord, ...] = (),
    remembered: tuple[Identity, ...] = (),
    has_dpdk: bool = True,
) -> tuple[dict[str, NicRecord], dict[str, str]]:
    named, identities = recognise(nics, before, remembered, ethernets, {"ens3"})
    records, renames = settle(named, identities.absent, ethernets, hands or FakeHands(), has_dpdk=has_dpdk)
    return {record.mac: record for record in records}, dict(renames)


def test_each_nic_gets_the_tables_driver() -> None:
    hands = FakeHands()
    records, renames = boot(hands=hands)
    assert {record.device: (record.driver, record.bound_to) for record in records.values()} == {
        "ens4": ("native", "uio_pci_generic"),
        "enp1s0": ("dpdk", "uio_pci_generic"),
        "ens192": ("dpdk", "uio_pci_generic"),
        "ens6": ("af_packet", None),
    }
    assert [pci for pci, _ in hands.done] == [VIRTIO.pci, MODERN.pci, VMXNET3.pci]
    assert renames == {"ens6": "ens6"}
    assert [record.device for record in records.values() if record.note] == ["ens6"]


def test_without_the_dpdk_plugin_what_it_would_drive_stays_with_the_kernel(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hands = FakeHands()
    records, _ = boot(hands=hands, has_dpdk=False)
    assert hands.done == [(VIRTIO.pci, "uio_pci_generic")]
    assert records[VMXNET3.mac or ""].driver == "af_packet"
    assert "packets a second" in caplog.text
    assert "ens192" in caplog.text


def test_a_nic_that_cannot_be_bound_goes_through_the_kernel_and_the_others_go_on() -> None:
    hands = FakeHands(refuses=frozenset([VMXNET3.pci]))
    records, renames = boot(hands=hands)
    assert records[VMXNET3.mac or ""].driver == "af_packet"
    assert "cannot be bound" in (records[VMXNET3.mac or ""].note or "")
    assert renames["ens192"] == "ens192"
    assert records[MODERN.mac or ""].bound_to == "uio_pci_generic"


def test_the_document_may_ask_for_af_packet() -> None:
    records, _ = boot(ethernets=(ethernet(mac=VIRTIO.mac or "", driver="af_packet"),))
    assert records[VIRTIO.mac or ""].driver == "af_packet"
    assert "the configuration asks for it" in (records[VIRTIO.mac or ""].note or "")


def test_the_document_may_ask_for_dpdk_where_vpp_could_do_without() -> None:
    wish = (ethernet(pci=VIRTIO.pci, driver="dpdk"),)
    assert boot(ethernets=wish)[0][VIRTIO.mac or ""].driver == "dpdk"
    assert boot(ethernets=wish, has_dpdk=False)[0][VIRTIO.mac or ""].driver == "native"


def test_a_second_run_in_one_boot_knows_the_nics_it_gave_away() -> None:
    first, _ = boot()
    hidden = tuple(
        PciNic(nic.pci, nic.pci_id, None, None, "uio_pci_generic", legacy_io=nic.legacy_io)
        if nic is not E1000
        else nic
        for nic in ALL
    )
    again, _ = boot(hidden, before=tuple(first.values()))
    assert again == first


def test_a_nic_that_nobody_knows_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    records, _ = boot((PciNic("0000:00:09.0", "1af4:1000", None, None, "vfio-pci"),))
    assert records == {}
    assert "0000:00:09.0" in caplog.text


def test_nics_that_changed_places_are_renamed_back() -> None:
    remembered = (
        Identity("52:54:00:00:00:05", "lan", "0000:00:06.0"),
        Identity("52:54:00:00:00:06", "ens6", "0000:00:07.0"),
    )
    other = PciNic("0000:00:07.0", "8086:100e", "ens7", "52:54:00:00:00:06", "e1000")
    _, renames = boot((E1000, other), remembered=remembered)
    assert renames == {"ens6": "lan", "ens7": "ens6"}


def test_where_the_kernel_forwards_nothing_is_bound() -> None:
    named, identities = recognise(ALL, (), (), (), {"ens3"})
    records, renames = left_to_the_kernel(named, identities.absent)
    assert {record.driver for record in records} == {"kernel"}
    assert {record.bound_to for record in records} == {None}
    assert renames == {nic.device: nic.device for nic in ALL}


# What the agent makes of it.


def agent_sees(records: dict[str, NicRecord], shown: list[Nic], tmp_path: Path) -> tuple[Nic, ...]:
    path = tmp_path / "nics.json"
    nic_inventory.write(records.values(), path)
    devices = tmp_path / "devices"
    for record in records.values():
        if record.pci is not None:
            (devices / record.pci).mkdir(parents=True, exist_ok=True)
    return tuple(merge(shown, nic_inventory.read(path), devices))


def compiled(nics: tuple[Nic, ...], **matches: dict[str, str]) -> dict[str, VppEthernet]:
    interfaces: dict[str, dict[str, object]] = {
        name: {"type": "ethernet", "match": match, "addresses": [f"192.0.{number}.1/24"]}
        for number, (name, match) in enumerate(matches.items(), 1)
    }
    interfaces |= {
        f"{name}-vlan": {"type": "sub_interface", "parent": name, "vlan_id": 10} for name in matches
    }
    document = parse_document(json.dumps({"schema_version": 1, "interfaces": interfaces}))
    state = compile_document(document, "vpp", CompileContext(nics))["vpp"]
    return {item.name: item for item in state.objects.values() if isinstance(item, VppEthernet)}


def test_the_document_finds_bound_nics_by_mac_place_and_name(tmp_path: Path) -> None:
    records, _ = boot()
    nics = agent_sees(records, [Nic("ens6", E1000.mac or "", E1000.pci)], tmp_path)
    interfaces = compiled(
        nics,
        by_mac={"mac": VIRTIO.mac or ""},
        by_pci={"pci": VMXNET3.pci},
        by_name={"device": "enp1s0"},
        slow={"device": "ens6"},
    )
    assert interfaces["by_mac"].attachment == VirtioPci(VIRTIO.pci)
    assert interfaces["by_mac"].mac == VIRTIO.mac
    assert interfaces["by_pci"].attachment == Dpdk(VMXNET3.pci)
    assert interfaces["by_name"].attachment == Dpdk(MODERN.pci)
    assert interfaces["slow"].attachment == AfPacket("ens6")


def test_a_nic_that_is_gone_takes_only_its_own_interface_along(tmp_path: Path) -> None:
    document = (ethernet(mac=VIRTIO.mac or ""), ethernet(mac=VMXNET3.mac or ""))
    first, _ = boot(ethernets=document)
    remembered = tuple(Identity(r.mac, r.device, r.known_pci) for r in first.values())
    records, _ = boot((VMXNET3,), document, remembered=remembered)
    nics = agent_sees(records, [], tmp_path)
    interfaces = compiled(nics, lan={"mac": VIRTIO.mac or ""}, wan={"mac": VMXNET3.mac or ""})
    assert set(interfaces) == {"wan"}
    assert interfaces["wan"].attachment == Dpdk(VMXNET3.pci)


def test_a_bound_nic_that_is_pulled_out_is_gone_at_once(tmp_path: Path) -> None:
    records, _ = boot((VIRTIO,))
    path = tmp_path / "nics.json"
    nic_inventory.write(records.values(), path)
    (nic,) = merge([], nic_inventory.read(path), tmp_path / "devices")
    assert not nic.present


def test_a_nic_that_somebody_took_back_goes_through_the_kernel(tmp_path: Path) -> None:
    records, _ = boot((VMXNET3,))
    nics = agent_sees(records, [Nic("ens192", VMXNET3.mac or "", VMXNET3.pci)], tmp_path)
    assert compiled(nics, wan={"pci": VMXNET3.pci})["wan"].attachment == AfPacket("ens192")


def test_nics_the_boot_did_not_see_are_still_shown(tmp_path: Path) -> None:
    records, _ = boot((VIRTIO,))
    nics = agent_sees(records, [Nic("veth0", "02:00:00:00:00:01", kind="veth")], tmp_path)
    assert [nic.device for nic in nics] == ["ens4", "veth0"]


def test_an_inventory_that_cannot_be_read_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "nics.json"
    assert nic_inventory.read(path) == ()
    path.write_text('{"nics": [{"device": 1, "colour": "red"}]}')
    with pytest.raises(DataPlaneError, match=r"nics\.json"):
        nic_inventory.read(path)


# The one that is left alone.


def test_management_is_found_by_what_is_known_of_it() -> None:
    for known in (
        Management(pci=MANAGEMENT.pci, mac="02:00:00:00:00:99"),
        Management(mac=MANAGEMENT.mac),
        Management(device="ens3"),
    ):
        assert [nic.pci for nic in (MANAGEMENT, *ALL) if known.is_of(nic)] == [MANAGEMENT.pci]


def test_no_management_nic_leaves_all_to_the_router(tmp_path: Path) -> None:
    path = tmp_path / "management.json"
    path.write_text(json.dumps({"device": None, "mac": None, "pci": None, "ipv4": "dhcp"}))
    chosen = read_management((MANAGEMENT, *ALL), path)
    assert not any(chosen.is_of(nic) for nic in (MANAGEMENT, *ALL))


@pytest.mark.parametrize(
    "text", [None, "", "[]", "null", '{"device": "ens3"}', '{"device":1,"mac":2,"pci":3}']
)
def test_without_a_word_of_it_the_first_nic_is_for_management(text: str | None, tmp_path: Path) -> None:
    path = tmp_path / "management.json"
    if text is not None:
        path.write_text(text)
    assert read_management((MANAGEMENT, *ALL), path).pci == MANAGEMENT.pci


def test_names_are_remembered_and_a_broken_memory_is_none(tmp_path: Path) -> None:
    path = tmp_path / "platform/nics.json"
    assert names_memory.recall(path) == ()
    identities = (
        Identity("52:54:00:00:00:01", "ens4", None),
        Identity("52:54:00:00:00:02", "lan", VIRTIO.pci),
    )
    names_memory.remember(identities, path)
    assert names_memory.recall(path) == identities
    later = json.loads(path.read_text())
    for entry in later["nics"]:
        entry["speed_mbps"] = 1000
    path.write_text(json.dumps(later))
    assert names_memory.recall(path) == identities, "a later version ran once and was left again"
    path.write_text('{"nics": [1]}')
    assert names_memory.recall(path) == ()


def test_a_driver_wished_for_after_boot_waits_for_the_next_one(tmp_path: Path) -> None:
    records, _ = boot((VIRTIO,))
    nics = agent_sees(records, [], tmp_path)
    document = {
        "schema_version": 1,
        "interfaces": {
            "lan": {"type": "ethernet", "match": {"mac": VIRTIO.mac}, "driver": "af_packet"},
        },
    }
    state = compile_document(parse_document(json.dumps(document)), "vpp", CompileContext(nics))["vpp"]
    (lan,) = (item for item in state.objects.values() if isinstance(item, VppEthernet))
    assert lan.attachment == VirtioPci(VIRTIO.pci)


def test_the_native_driver_is_refused_for_what_would_crash_it(tmp_path: Path) -> None:
    records, _ = boot((MODERN,), has_dpdk=False)
    nics = agent_sees(records, [Nic("enp1s0", MODERN.mac or "", MODERN.pci)], tmp_path)
    document = {
        "schema_version": 1,
        "interfaces": {"lan": {"type": "ethernet", "match": {"mac": MODERN.mac}, "driver": "native"}},
    }
    with pytest.raises(ValidationFailed, match="1af4:1041") as refused:
        compile_document(parse_document(json.dumps(document)), "vpp", CompileContext(nics))
    assert refused.value.problems[0].pointer == "/interfaces/lan/driver"
