"""The OVA itself: the parts that a hypervisor's import relies on, and its disk booted as ESXi would boot
it.
"""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest

from lab.command import run
from tests.image import hypervisor, seed_disk
from tests.image.artefacts import Artefacts
from tests.image.boots import PASSWORD, Boots
from tests.image.machine import DiskController, Hardware, NicModel
from tests.image.patience import wall_time
from tests.image.two_hosts import TwoHosts
from tests.live_lab import json_of

_OVF = "{http://schemas.dmtf.org/ovf/envelope/1}"
_VMW = "{http://www.vmware.com/schema/ovf}"
_ENVIRONMENT = "http://schemas.dmtf.org/ovf/environment/1"
MAX_BYTES = 700 * 1000 * 1000


@pytest.fixture(scope="module")
def ova(built: Artefacts) -> Path:
    """The OVA of the build."""
    if built.ova is None:
        pytest.skip(f"no OVA beside {built.disk.name}")
    return built.ova


@pytest.fixture(scope="module")
def unpacked(ova: Path, directory: Path) -> Path:
    """Its files."""
    target = directory / "ova"
    target.mkdir()
    run(["tar", "-C", str(target), "-xf", str(ova)], timeout_s=300)
    return target


def test_it_is_a_ustar_with_the_descriptor_first(ova: Path) -> None:
    with tarfile.open(ova) as archive:
        members = archive.getmembers()
    assert not any(member.pax_headers for member in members)
    assert members[0].name.endswith(".ovf")
    assert members[1].name == members[0].name.removesuffix(".ovf") + ".mf"
    assert all(member.isfile() and "/" not in member.name for member in members)
    with ova.open("rb") as file:
        assert file.read(512)[257:263] == b"ustar\0"


def test_it_is_small_enough_to_be_carried(ova: Path) -> None:
    assert ova.stat().st_size <= MAX_BYTES


def test_the_manifest_names_every_file_with_its_digest(unpacked: Path) -> None:
    (manifest,) = unpacked.glob("*.mf")
    lines = re.findall(r"^SHA256\((.+?)\)= ([0-9a-f]{64})$", manifest.read_text(), re.MULTILINE)
    told = dict(lines)
    files = {path.name for path in unpacked.iterdir() if path.suffix not in (".mf", ".cert")}
    assert told.keys() == files
    for name, digest in told.items():
        with (unpacked / name).open("rb") as file:
            assert hashlib.file_digest(file, "sha256").hexdigest() == digest, name


def test_the_descriptor_names_the_disk_as_it_is(unpacked: Path) -> None:
    (descriptor,) = unpacked.glob("*.ovf")
    envelope = ET.parse(descriptor).getroot()
    files = envelope.findall(f"{_OVF}References/{_OVF}File")
    for file in files:
        assert int(file.attrib[f"{_OVF}size"]) == (unpacked / file.attrib[f"{_OVF}href"]).stat().st_size
    (disk,) = envelope.findall(f"{_OVF}DiskSection/{_OVF}Disk")
    assert disk.attrib[f"{_OVF}format"].endswith("#streamOptimized")
    shown = json.loads(
        run([*hypervisor.program("qemu-img"), "info", "--output=json", str(_disk(unpacked))], timeout_s=60)
    )
    units = {"byte": 1, "byte * 2^20": 2**20, "byte * 2^30": 2**30}
    unit = units[disk.attrib.get(f"{_OVF}capacityAllocationUnits", "byte")]
    assert int(disk.attrib[f"{_OVF}capacity"]) * unit == shown["virtual-size"]
    assert shown["format-specific"]["data"]["create-type"] == "streamOptimized"


def test_it_boots_as_it_is_imported_and_reads_its_ovf_properties(unpacked: Path, boots: Boots) -> None:
    """The machine its descriptor asks for, the properties on an ISO as by the transport ``iso``."""
    hosts, asked = TwoHosts(5), imported(unpacked)
    assert asked.transports >= {"iso", "com.vmware.guestInfo"}
    boots.on_end(hosts.remove)
    credentials = boots.credentials()
    document = {"schema_version": 1, "interfaces": hosts.interfaces()}
    environment = ovf_environment(
        {
            "hostname": "from-ova",
            "management_address": "dhcp",
            "admin_password_hash": boots.password_hash()["admin_password_hash"],
            "admin_ssh_keys": credentials.public_key,
            "configuration": json.dumps(document),
        }
    )
    management, *data = asked.nics
    assert len(data) == 2 and len(set(data)) == 1
    hardware = Hardware(
        disk=hypervisor.overlay(boots.directory / "ova.qcow2", asked.disk, base_format="vmdk"),
        seed=seed_disk.make(boots.directory / "ova.iso", "OVF ENV", {"ovf-env.xml": environment}),
        nics=(boots.management(5, management), *hosts.nics(data[0])),
        chipset="pc",
        uefi=asked.uefi,
        disk_controller=asked.disk_controller,
        vcpus=asked.vcpus,
        memory_mb=asked.memory_mb,
    )
    router = boots.router("ova", hardware)
    assert router.shell("hostname").strip() == "from-ova"
    assert json_of(router.api.get("/me"))["user"]["username"] == "admin"
    with wall_time("ova: from there to the first echo, configured by OVF properties alone"):
        hosts.wait_until_forwarding(timeout_s=120)
    assert PASSWORD not in router.root("journalctl", "-b", "--no-pager", timeout_s=120)


def _disk(unpacked: Path) -> Path:
    (disk,) = unpacked.glob("*.vmdk")
    return disk


@dataclass(frozen=True)
class Imported:
    """What an import reads in the descriptor (DSP0243, 8 and 9.8), in the size that is chosen unless told."""

    vcpus: int
    memory_mb: int
    disk_controller: DiskController
    disk: Path
    nics: tuple[NicModel, ...]
    transports: frozenset[str]
    uefi: bool


_PROCESSOR, _MEMORY, _SCSI, _ETHERNET, _DISK = "3", "4", "6", "10", "17"
_CONTROLLERS: dict[str, DiskController] = {"VirtualSCSI": "pvscsi"}
_NIC_MODELS: dict[str, NicModel] = {"VmxNet3": "vmxnet3"}


def imported(unpacked: Path) -> Imported:
    """The machine that a hypervisor makes of an unpacked OVA. KeyError for hardware that QEMU has not."""
    (descriptor,) = unpacked.glob("*.ovf")
    envelope = ET.parse(descriptor).getroot()
    sizes = envelope.findall(f"{_OVF}DeploymentOptionSection/{_OVF}Configuration")
    (size,) = (one.attrib[f"{_OVF}id"] for one in sizes if one.get(f"{_OVF}default") == "true")
    (hardware,) = envelope.iter(f"{_OVF}VirtualHardwareSection")
    items = [
        {field.tag.rpartition("}")[2]: field.text or "" for field in item}
        for item in hardware.findall(f"{_OVF}Item")
        if item.get(f"{_OVF}configuration") in (None, size)
    ]

    def of(kind: str) -> list[dict[str, str]]:
        return [item for item in items if item["ResourceType"] == kind]

    (processors,), (memory,), (controller,), (disk,) = map(of, (_PROCESSOR, _MEMORY, _SCSI, _DISK))
    assert memory["AllocationUnits"] == "byte * 2^20"
    assert disk["Parent"] == controller["InstanceID"]
    disks = {one.attrib[f"{_OVF}diskId"]: one for one in envelope.findall(f"{_OVF}DiskSection/{_OVF}Disk")}
    files = {one.attrib[f"{_OVF}id"]: one for one in envelope.findall(f"{_OVF}References/{_OVF}File")}
    file = files[disks[disk["HostResource"].removeprefix("ovf:/disk/")].attrib[f"{_OVF}fileRef"]]
    firmware = [
        one.attrib[f"{_VMW}value"]
        for one in hardware.findall(f"{_VMW}Config")
        if one.attrib[f"{_VMW}key"] == "firmware"
    ]
    return Imported(
        vcpus=int(processors["VirtualQuantity"]),
        memory_mb=int(memory["VirtualQuantity"]),
        disk_controller=_CONTROLLERS[controller["ResourceSubType"]],
        disk=unpacked / file.attrib[f"{_OVF}href"],
        nics=tuple(
            _NIC_MODELS[item["ResourceSubType"]]
            for item in sorted(of(_ETHERNET), key=lambda item: int(item["AddressOnParent"]))
        ),
        transports=frozenset(hardware.attrib[f"{_OVF}transport"].split()),
        uefi=firmware == ["efi"],
    )


def ovf_environment(properties: dict[str, str]) -> str:
    """An OVF environment document (DSP0243, 9.4) with these properties."""
    lines = "\n".join(
        f"    <Property oe:key={quoteattr(key)} oe:value={quoteattr(value)}/>"
        for key, value in properties.items()
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<Environment xmlns="{_ENVIRONMENT}" xmlns:oe="{_ENVIRONMENT}" oe:id="">
  <PlatformSection>
    <Kind>{escape("VMware ESXi")}</Kind>
    <Version>7.0.3</Version>
    <Vendor>VMware, Inc.</Vendor>
    <Locale>en</Locale>
  </PlatformSection>
  <PropertySection>
{lines}
  </PropertySection>
</Environment>
"""
