"""The OVF descriptor (DSP0243 1.1): hardware, networks, sizes and properties as XML."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from ova.properties import CATEGORIES, Property
from ova.sizes import DATA_NICS, DEFAULT_SIZE, SIZES

OVF = "http://schemas.dmtf.org/ovf/envelope/1"
_CIM = "http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2"
RASD = f"{_CIM}/CIM_ResourceAllocationSettingData"
VSSD = f"{_CIM}/CIM_VirtualSystemSettingData"
VMW = "http://www.vmware.com/schema/ovf"
STREAM_OPTIMIZED = "http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized"

EXTRA_CONFIG = (("isolation.tools.setinfo.disable", "TRUE"),)
"""Options of the virtual machine that are not hardware. This one: no process in it may set guestinfo, where
the next boot finds its seed. VMware Tools then cannot tell vSphere the router's name and addresses either."""
HARDWARE_VERSION = "vmx-13"
"""The version of ESXi 6.5, accepted by 6.7 and everything later."""
_DEBIAN_64 = "96"
"""CIM_OperatingSystem.OsType."""

CPU, MEMORY, IDE, SCSI, ETHERNET, CD_ROM, DISK = "3", "4", "5", "6", "10", "15", "17"
"""CIM_ResourceAllocationSettingData.ResourceType."""

NETWORKS = (
    ("Management", "ssh and the web interface. Nothing is forwarded from or to it."),
    *((f"Data {number}", f"Data interface {number}.") for number in range(1, DATA_NICS + 1)),
)


@dataclass(frozen=True)
class Disk:
    """The disk that a descriptor names."""

    href: str
    size_bytes: int
    """The size of the file."""
    capacity_bytes: int
    populated_bytes: int


@dataclass(frozen=True)
class Product:
    """The description of the virtual machine."""

    name: str
    version: str
    dataplane: str
    """``vpp`` or ``linux``."""


def render(product: Product, disk: Disk) -> bytes:
    """The descriptor, UTF-8, the same for the same arguments."""
    for prefix, uri in (("ovf", OVF), ("rasd", RASD), ("vssd", VSSD), ("vmw", VMW)):
        ET.register_namespace(prefix, uri)
    envelope = Element(_ovf("Envelope"))
    references = SubElement(envelope, _ovf("References"))
    SubElement(
        references,
        _ovf("File"),
        {_ovf("href"): disk.href, _ovf("id"): "file1", _ovf("size"): str(disk.size_bytes)},
    )
    _disks(envelope, disk)
    networks = _section(envelope, "NetworkSection", "The networks to choose")
    for name, description in NETWORKS:
        network = SubElement(networks, _ovf("Network"), {_ovf("name"): name})
        _text(network, "Description", description)
    _sizes(envelope)
    system = SubElement(envelope, _ovf("VirtualSystem"), {_ovf("id"): product.name})
    _text(system, "Info", "A virtual router")
    _text(system, "Name", product.name)
    operating_system = _section(system, "OperatingSystemSection", "The operating system")
    operating_system.set(_ovf("id"), _DEBIAN_64)
    operating_system.set(f"{{{VMW}}}osType", "debian10_64Guest")
    _text(operating_system, "Description", "Debian GNU/Linux (64-bit)")
    _hardware(system, product)
    _product(system, product)
    ET.indent(envelope)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(envelope) + b"\n"


def _ovf(name: str) -> str:
    return f"{{{OVF}}}{name}"


def _text(parent: Element, name: str, text: str) -> None:
    SubElement(parent, _ovf(name)).text = text


def _section(parent: Element, name: str, info: str) -> Element:
    section = SubElement(parent, _ovf(name))
    _text(section, "Info", info)
    return section


def _disks(envelope: Element, disk: Disk) -> None:
    section = _section(envelope, "DiskSection", "The virtual disk")
    SubElement(
        section,
        _ovf("Disk"),
        {
            _ovf("capacity"): str(disk.capacity_bytes),
            _ovf("capacityAllocationUnits"): "byte",
            _ovf("diskId"): "disk1",
            _ovf("fileRef"): "file1",
            _ovf("format"): STREAM_OPTIMIZED,
            _ovf("populatedSize"): str(disk.populated_bytes),
        },
    )


def _sizes(envelope: Element) -> None:
    section = _section(envelope, "DeploymentOptionSection", "The size of the router")
    for size in SIZES:
        attributes = {_ovf("id"): size.name}
        if size is DEFAULT_SIZE:
            attributes[_ovf("default")] = "true"
        configuration = SubElement(section, _ovf("Configuration"), attributes)
        _text(configuration, "Label", size.label)
        _text(configuration, "Description", size.description)


def _hardware(system: Element, product: Product) -> None:
    section = _section(system, "VirtualHardwareSection", "The hardware")
    section.set(_ovf("transport"), "com.vmware.guestInfo iso")
    machine = SubElement(section, _ovf("System"))
    for name, value in (
        ("ElementName", "Virtual Hardware Family"),
        ("InstanceID", "0"),
        ("VirtualSystemIdentifier", product.name),
        ("VirtualSystemType", HARDWARE_VERSION),
    ):
        SubElement(machine, f"{{{VSSD}}}{name}").text = value
    for attributes, settings in _items():
        item = SubElement(section, _ovf("Item"), {_ovf(key): value for key, value in attributes.items()})
        # The schema requires alphabetical order.
        for name in sorted(settings):
            SubElement(item, f"{{{RASD}}}{name}").text = settings[name]
    for key, value in EXTRA_CONFIG:
        # Not required: a platform that does not know it imports the machine without it.
        about = {_ovf("required"): "false", f"{{{VMW}}}key": key, f"{{{VMW}}}value": value}
        SubElement(section, f"{{{VMW}}}ExtraConfig", about)


def _items() -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Attributes and settings of each piece of hardware."""
    for size in SIZES:
        # An item applies to the configurations it names; the instance is the same in all of them.
        yield (
            {"configuration": size.name},
            {
                "AllocationUnits": "hertz * 10^6",
                "Description": "Number of virtual CPUs",
                "ElementName": f"{size.cpus} virtual CPUs",
                "InstanceID": "1",
                "ResourceType": CPU,
                "VirtualQuantity": str(size.cpus),
            },
        )
        yield (
            {"configuration": size.name},
            {
                "AllocationUnits": "byte * 2^20",
                "Description": "Memory size",
                "ElementName": f"{size.memory_mib} MB of memory",
                "InstanceID": "2",
                "ResourceType": MEMORY,
                "VirtualQuantity": str(size.memory_mib),
            },
        )
    yield (
        {},
        {
            "Address": "0",
            "Description": "SCSI controller",
            "ElementName": "SCSI controller 0",
            "InstanceID": "3",
            "ResourceSubType": "VirtualSCSI",
            "ResourceType": SCSI,
        },
    )
    yield (
        {},
        {
            "AddressOnParent": "0",
            "ElementName": "Hard disk 1",
            "HostResource": "ovf:/disk/disk1",
            "InstanceID": "4",
            "Parent": "3",
            "ResourceType": DISK,
        },
    )
    # The properties travel on a CD where the guest information channel is not used.
    yield (
        {"required": "false"},
        {
            "Address": "1",
            "Description": "IDE controller",
            "ElementName": "IDE 1",
            "InstanceID": "5",
            "ResourceType": IDE,
        },
    )
    yield (
        {"required": "false"},
        {
            "AddressOnParent": "0",
            "AutomaticAllocation": "false",
            "ElementName": "CD/DVD drive 1",
            "InstanceID": "6",
            "Parent": "5",
            "ResourceSubType": "vmware.cdrom.remotepassthrough",
            "ResourceType": CD_ROM,
        },
    )
    for number, (network, description) in enumerate(NETWORKS):
        yield (
            {},
            {
                "AddressOnParent": str(7 + number),
                "AutomaticAllocation": "true",
                "Connection": network,
                "Description": description,
                "ElementName": f"Network adapter {number + 1}",
                "InstanceID": str(7 + number),
                "ResourceSubType": "VmxNet3",
                "ResourceType": ETHERNET,
            },
        )


def _product(system: Element, product: Product) -> None:
    section = _section(system, "ProductSection", "The product, and what it is told before its first boot")
    forwarding = "FD.io VPP" if product.dataplane == "vpp" else "the Linux kernel"
    _text(section, "Product", f"Millrace router, forwarding with {forwarding}")
    _text(section, "Vendor", "Millrace")
    _text(section, "Version", product.version)
    _text(section, "FullVersion", f"{product.version} ({product.dataplane})")
    for category in CATEGORIES:
        _text(section, "Category", category.label)
        for entry in category.properties:
            _property(section, entry)


def _property(section: Element, entry: Property) -> None:
    attributes = {
        _ovf("key"): entry.key,
        _ovf("type"): "string",
        _ovf("userConfigurable"): "true",
        _ovf("value"): "",
    }
    if entry.qualifiers:
        attributes[_ovf("qualifiers")] = entry.qualifiers
    if entry.password:
        attributes[_ovf("password")] = "true"
    node = SubElement(section, _ovf("Property"), attributes)
    _text(node, "Label", entry.label)
    _text(node, "Description", entry.description)
