"""The order of things before VPP, FRR and the agent start."""

from __future__ import annotations

import json
import logging
import pwd
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from appliance.dataplane import nic_inventory
from appliance.dataplane.machine import Machine
from appliance.dataplane.nic_inventory import INVENTORY, NicRecord
from appliance.dataplane.vpp import sizing
from appliance.dataplane.vpp.startup import StartupSettings
from appliance.engine import durable
from appliance.errors import MillraceError, ValidationFailed
from appliance.features.dataplane.model import Dataplane
from appliance.platform import (
    agent_file,
    bgp_index,
    firewall,
    hugepages,
    links,
    management,
    names_memory,
    paths,
    pci,
    route_carrier,
    startup_file,
)
from appliance.platform.nics import RealHands, left_to_the_kernel, recognise, settle
from appliance.platform.running_document import Wishes
from appliance.platform.running_document import read as read_wishes
from appliance.programs import HostPrograms, Programs

log = logging.getLogger(__name__)

NETNS = "dataplane"
RELEASE = Path("/usr/lib/millrace/release.json")
_DPDK_PLUGINS = ("usr/lib/x86_64-linux-gnu/vpp_plugins", "usr/lib/vpp_plugins")
_USERS = ("millrace-web", "admin")
_VIRTIO = "1af4:"
CHECKSUM_COST = (
    "the hypervisor hands over frames of its own machines without checksums: "
    "give the NIC guest csum='off' there, or their TCP and UDP does not pass"
)
"""virtio alone leaves them out for good; other NICs only check them."""


class BadRelease(MillraceError):
    """The image does not identify itself."""


@dataclass(frozen=True)
class Image:
    """What the image was built with."""

    dataplane: Literal["vpp", "linux"]
    has_dpdk: bool


def image(root: Path = Path("/")) -> Image:
    """As its release file and VPP's plugins tell. Raises BadRelease."""
    path = root / RELEASE.relative_to("/")
    try:
        kind = json.loads(path.read_bytes())["dataplane"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadRelease(f"{path} does not name the data plane: {error}") from error
    if kind not in ("vpp", "linux"):
        raise BadRelease(f"{path} names the data plane {kind!r}; it is vpp or linux")
    plugin = any((root / folder / "dpdk_plugin.so").exists() for folder in _DPDK_PLUGINS)
    return Image(kind, plugin)


def prepare() -> None:
    """Make the machine ready for the router. Raises MillraceError or OSError when that fails.

    The management NIC comes first: whatever fails afterwards, the host can be reached. A failure that only
    makes the router slower or less isolated does not prevent forwarding.
    """
    nics = pci.network_devices()
    chosen = management.read(nics)
    with _going_on("ssh and https are not open"):
        open_management()
    built = image()
    links.require_namespace(NETNS)
    wishes = read_wishes(paths.AGENT_STATE)
    data = [nic for nic in nics if not chosen.is_of(nic)]
    reserved = {nic.device for nic in nics if chosen.is_of(nic) and nic.device is not None}
    named, identities = recognise(
        data, nic_inventory.read(), names_memory.recall(), wishes.ethernets, reserved
    )
    names_memory.remember(identities.all)
    if built.dataplane == "vpp":
        records, renames = settle(
            named, identities.absent, wishes.ethernets, RealHands(), has_dpdk=built.has_dpdk
        )
    else:
        records, renames = left_to_the_kernel(named, identities.absent)
    records, renames = clear_of_management(records, renames, reserved)
    nic_inventory.write(records)
    _separate(renames)
    if built.dataplane == "vpp":
        records = lay_open(records, renames.values(), HostPrograms())
        nic_inventory.write(records)
    machine = hugepages.machine()
    bgp_index.announce(machine.memory_mb)
    heard = True
    if built.dataplane == "vpp":
        route_carrier.refuse_old_choice()
        settings, heard = vpp_settings(wishes, machine)
        _size_vpp(machine, settings, records)
        route_carrier.announce(sizing.most_routes(settings))
    else:
        route_carrier.announce(None)
    _write_agent_file(built, machine if heard else None, frozenset(reserved))


def open_management() -> None:
    """ssh and https on the management NIC as it is now, and on no other. Raises MillraceError or OSError."""
    nics = pci.network_devices()
    chosen = management.read(nics)
    devices = {nic.device for nic in nics if chosen.is_of(nic) and nic.device is not None}
    if chosen.device is not None and not devices:
        devices = {chosen.device}
    firewall.let_management_in(devices)


def _separate(renames: Mapping[str, str]) -> None:
    """Data NICs the kernel still drives: under their own names, and unheard by the host."""
    with _going_on("data NICs keep the kernel's names"):
        links.rename(renames)
    # Without it the host's filter still drops what comes in by them.
    with _going_on("data NICs are not kept from the host's network stack"):
        for device in renames.values():
            links.quieten(device)
        firewall.isolate(sorted(renames.values()))


def clear_of_management(
    records: Iterable[NicRecord], renames: Mapping[str, str], reserved: Iterable[str]
) -> tuple[list[NicRecord], Mapping[str, str]]:
    """Names that the management NIC has now are not given to data NICs, nor recorded of them. Pure."""
    clear = links.clear_of(renames, reserved)
    moved = {renames[old]: new for old, new in clear.items()}
    return [
        replace(record, device=moved.get(record.device, record.device)) if record.pci is not None else record
        for record in records
    ], clear


def lay_open(records: Iterable[NicRecord], devices: Iterable[str], programs: Programs) -> list[NicRecord]:
    """NICs that VPP reaches through the kernel; a record says so where frames may lack their checksum."""
    whole = dict.fromkeys(devices, True)
    for device in whole:
        with _going_on(f"{device} may keep groups, VLANs or merged frames from VPP"):
            whole[device] = links.pass_through(device, programs)
    return [
        replace(record, note=f"{record.note}; {CHECKSUM_COST}")
        if (record.pci_id or "").startswith(_VIRTIO) and not whole.get(record.device, True)
        else record
        for record in records
    ]


@contextmanager
def _going_on(what: str) -> Iterator[None]:
    try:
        yield
    except (MillraceError, OSError) as error:
        log.error("%s: %s", what, error)


def vpp_settings(wishes: Wishes, machine: Machine) -> tuple[StartupSettings, bool]:
    """VPP's start settings, and whether they follow the document.

    A machine made smaller than its last commit requires still has to come up: by its own size.
    """
    try:
        return sizing.settings(wishes.dataplane, machine), True
    except ValidationFailed as error:
        log.error("VPP is sized by the machine, not by the last commit: %s", error)
        return sizing.settings(Dataplane(), machine), False


def _size_vpp(machine: Machine, settings: StartupSettings, records: list[NicRecord]) -> None:
    dpdk = len(startup_file.dpdk_devices(records, settings.workers))
    wanted = sizing.hugepages(settings, machine, dpdk)
    with _going_on("no huge pages are reserved; VPP tries to take some itself"):
        got = hugepages.reserve(wanted)
        if got < wanted:
            log.error("only %s of %s huge pages could be reserved: VPP may lack packet buffers", got, wanted)
    text = startup_file.render(settings, machine, records, NETNS, emulated=is_emulated(HostPrograms()))
    durable.make_folder(paths.STARTUP_FILE.parent)
    durable.write(paths.STARTUP_FILE, text.encode(), 0o644)
    log.info("VPP on %s CPUs and %s MB: %s", machine.cpus, machine.memory_mb, settings)


def is_emulated(programs: Programs) -> bool:
    """Whether a program emulates the CPUs, as QEMU does without KVM; systemd detects it by CPUID."""
    try:
        return programs.run(["systemd-detect-virt", "--vm"]).output.strip() == "qemu"
    except MillraceError as error:
        log.warning("the hypervisor is not known: %s", error)
        return False


def _write_agent_file(built: Image, machine: Machine | None, reserved: frozenset[str]) -> None:
    uids = frozenset(uid for name in _USERS if (uid := _uid(name)) is not None)
    agent = agent_file.settings(
        built.dataplane,
        NETNS,
        machine,
        reserved,
        uids,
        INVENTORY,
        dpdk=built.has_dpdk,
    )
    durable.write(paths.AGENT_FILE, agent_file.render(agent).encode(), 0o644)


def _uid(name: str) -> int | None:
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        log.error("there is no user %s: it cannot use the agent", name)
        return None
