"""A libvirt domain that lets the router forward undisturbed: hugepages, pinned cores, no emulator threads
on them.
"""

from __future__ import annotations

import uuid
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from ova.errors import OvaError
from ova.sizes import DATA_NICS, Size

_NAMESPACE = uuid.UUID("6f1f5b0e-4e0c-5b53-9a53-0c1f7f2f7a10")
"""The namespace of UUIDs made from names, so that the same arguments give the same file."""


@dataclass(frozen=True)
class Host:
    """The resources of the host. Numbers are its CPUs, as ``lscpu`` counts them."""

    cpus: Sequence[int]
    """One for each virtual CPU, in order: 0 manages, the others forward. All on one NUMA node."""
    emulator_cpus: Sequence[int]
    """CPUs for QEMU itself and its I/O thread; none of ``cpus``."""
    bridges: Sequence[str] = ("br-mgmt", *(f"br-data{number}" for number in range(1, DATA_NICS + 1)))
    """Bridge of the management NIC, then of each data NIC."""
    hugepage_mib: int = 1024
    """Size of the host's huge pages that hold the guest: 2 or 1024."""
    numa_node: int | None = None
    """The node of ``cpus`` and of the NICs; None leaves the memory's placement to the host."""


@dataclass(frozen=True)
class Guest:
    """The virtual machine. Paths are paths on the host."""

    name: str
    size: Size
    disk: Path
    seed: Path | None = None
    """ISO with the settings of the first boot (NoCloud)."""
    own_identity: bool = True
    """UUID and MAC addresses are derived from the name; if false, libvirt generates them when it defines
    the domain.
    """


def render(guest: Guest, host: Host) -> bytes:
    """The domain's XML, for ``virsh define``. Raises OvaError when the CPUs do not fit."""
    _check(guest, host)
    domain = Element("domain", type="kvm")
    _text(domain, "name", guest.name)
    if guest.own_identity:
        _text(domain, "uuid", str(uuid.uuid5(_NAMESPACE, guest.name)))
    _text(domain, "memory", str(guest.size.memory_mib), unit="MiB")
    _text(domain, "vcpu", str(guest.size.cpus), placement="static")
    _text(domain, "iothreads", "1")
    backing = SubElement(domain, "memoryBacking")
    # The whole guest in a few entries of the TLB, and never swapped.
    SubElement(SubElement(backing, "hugepages"), "page", size=str(host.hugepage_mib), unit="MiB")
    SubElement(backing, "nosharepages")
    SubElement(backing, "locked")
    _pinning(domain, host)
    if host.numa_node is not None:
        SubElement(SubElement(domain, "numatune"), "memory", mode="strict", nodeset=str(host.numa_node))
    system = SubElement(domain, "os")
    _text(system, "type", "hvm", arch="x86_64", machine="pc")
    SubElement(system, "boot", dev="hd")
    features = SubElement(domain, "features")
    SubElement(features, "acpi")
    SubElement(features, "apic")
    cpu = SubElement(domain, "cpu", mode="host-passthrough", check="none", migratable="off")
    SubElement(cpu, "topology", sockets="1", dies="1", cores=str(guest.size.cpus), threads="1")
    SubElement(cpu, "cache", mode="passthrough")
    clock = SubElement(domain, "clock", offset="utc")
    SubElement(clock, "timer", name="pit", tickpolicy="delay")
    SubElement(clock, "timer", name="rtc", tickpolicy="catchup")
    SubElement(clock, "timer", name="hpet", present="no")
    _text(domain, "on_poweroff", "destroy")
    _text(domain, "on_reboot", "restart")
    _text(domain, "on_crash", "restart")
    _devices(domain, guest, host)
    ET.indent(domain)
    return ET.tostring(domain) + b"\n"


def _check(guest: Guest, host: Host) -> None:
    needed = guest.size.cpus
    if len(host.cpus) != needed:
        raise OvaError(f"--cpus: {len(host.cpus)} CPUs are given, {guest.size.name} needs {needed}")
    if len(set(host.cpus)) != needed:
        raise OvaError("--cpus: a CPU is given twice")
    if not host.emulator_cpus:
        raise OvaError("--emulator-cpus: at least one CPU is needed")
    if both := sorted(set(host.cpus) & set(host.emulator_cpus)):
        raise OvaError(f"--emulator-cpus: CPU {both[0]} is one of --cpus, where it would disturb forwarding")
    if host.hugepage_mib not in (2, 1024):
        raise OvaError(f"--hugepage-mib: x86 has pages of 2 and of 1024 MiB, not of {host.hugepage_mib}")
    if len(host.bridges) < 2:
        raise OvaError("--bridge: a router needs a management bridge and at least one for data")


def _pinning(domain: Element, host: Host) -> None:
    tune = SubElement(domain, "cputune")
    for number, cpu in enumerate(host.cpus):
        SubElement(tune, "vcpupin", vcpu=str(number), cpuset=str(cpu))
    apart = ",".join(str(cpu) for cpu in host.emulator_cpus)
    SubElement(tune, "emulatorpin", cpuset=apart)
    SubElement(tune, "iothreadpin", iothread="1", cpuset=apart)


def _devices(domain: Element, guest: Guest, host: Host) -> None:
    devices = SubElement(domain, "devices")
    # On the first PCI bus of a "pc" a virtio NIC is transitional (1af4:1000), which VPP's own driver
    # supports; on q35 libvirt puts it behind a root port, where it is modern only. Therefore: pc, bus 0,
    # explicit slots.
    disk = SubElement(devices, "disk", type="file", device="disk")
    SubElement(disk, "driver", name="qemu", type="qcow2", cache="none", io="native", iothread="1")
    SubElement(disk, "source", file=str(guest.disk))
    SubElement(disk, "target", dev="vda", bus="virtio")
    _slot(disk, 4)
    if guest.seed is not None:
        cd = SubElement(devices, "disk", type="file", device="cdrom")
        SubElement(cd, "driver", name="qemu", type="raw")
        SubElement(cd, "source", file=str(guest.seed))
        SubElement(cd, "target", dev="hda", bus="ide")
        SubElement(cd, "readonly")
    for number, bridge in enumerate(host.bridges):
        _nic(devices, guest, number, bridge)
    serial = SubElement(devices, "serial", type="pty")
    SubElement(serial, "target", port="0")
    console = SubElement(devices, "console", type="pty")
    SubElement(console, "target", type="serial", port="0")
    channel = SubElement(devices, "channel", type="unix")
    SubElement(channel, "target", type="virtio", name="org.qemu.guest_agent.0")
    SubElement(devices, "graphics", type="vnc", port="-1", autoport="yes", listen="127.0.0.1")
    video = SubElement(devices, "video")
    SubElement(video, "model", type="vga")
    rng = SubElement(devices, "rng", model="virtio")
    SubElement(rng, "backend", model="random").text = "/dev/urandom"
    SubElement(devices, "memballoon", model="none")


def _nic(devices: Element, guest: Guest, number: int, bridge: str) -> None:
    nic = SubElement(devices, "interface", type="bridge")
    if guest.own_identity:
        SubElement(nic, "mac", address=_mac(guest.name, number))
    SubElement(nic, "source", bridge=bridge)
    SubElement(nic, "model", type="virtio-transitional")
    if number:
        # A queue pair for each of VPP's threads; long rings, because a burst must not be lost.
        queues = max(1, guest.size.cpus - 1)
        driver = SubElement(
            nic, "driver", name="vhost", queues=str(queues), rx_queue_size="1024", tx_queue_size="256"
        )
        # Forwarded packets have to leave as they came: not merged, and with no checksums left to the other
        # end.
        off = {"tso4": "off", "tso6": "off", "ecn": "off", "ufo": "off"}
        SubElement(driver, "host", {"csum": "off", "gso": "off", **off, "mrg_rxbuf": "on"})
        SubElement(driver, "guest", {"csum": "off", **off})
    _slot(nic, 5 + number)


def _slot(device: Element, slot: int) -> None:
    SubElement(
        device, "address", type="pci", domain="0x0000", bus="0x00", slot=f"{slot:#04x}", function="0x0"
    )


def _mac(name: str, number: int) -> str:
    """A MAC address of QEMU's block (52:54:00), the same for the same name and number."""
    tail = uuid.uuid5(_NAMESPACE, f"{name}/{number}").bytes[:3]
    return ":".join(("52", "54", "00", *(f"{byte:02x}" for byte in tail)))


def _text(parent: Element, name: str, text: str, **attributes: str) -> None:
    SubElement(parent, name, attributes).text = text
