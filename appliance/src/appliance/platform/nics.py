"""The data NICs at boot: their names, their drivers, and their records."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from appliance.dataplane.nic import Nic
from appliance.dataplane.nic_inventory import NicRecord
from appliance.errors import MillraceError
from appliance.features.ethernet.model import Ethernet
from appliance.platform import binding, pci
from appliance.platform.identity import Found, Identities, Identity, identify
from appliance.platform.nic_table import Binding, Choice, choose, fallback
from appliance.platform.pci import SYSFS, PciNic

log = logging.getLogger(__name__)


class Hands(Protocol):
    """The operations on NICs; a fake in tests."""

    def bind(self, pci_address: str, driver: Binding) -> None:
        """Bind the NIC to a user-space driver. Raises MillraceError or OSError."""

    def release(self, pci_address: str) -> str | None:
        """Return it to the kernel's driver; returns its name then. Raises MillraceError or OSError."""


class RealHands:
    """The machine's own NICs."""

    def __init__(self, sysfs: Path = SYSFS) -> None:
        self._sysfs = sysfs

    def bind(self, pci_address: str, driver: Binding) -> None:
        """See Hands."""
        binding.bind(pci_address, driver, sysfs=self._sysfs)

    def release(self, pci_address: str) -> str | None:
        """See Hands."""
        binding.release(pci_address, sysfs=self._sysfs)
        return pci.read(pci_address, self._sysfs).device


def recognise(
    nics: Iterable[PciNic],
    before: Iterable[NicRecord],
    remembered: Iterable[Identity],
    ethernets: Sequence[Ethernet],
    reserved: Iterable[str],
) -> tuple[list[tuple[PciNic, Identity]], Identities]:
    """Names for the data NICs. ``before`` is what this boot recorded already, of NICs bound since. Pure.

    A NIC whose MAC neither the kernel nor the record knows cannot be identified and is left out.
    """
    recorded = {record.pci: record for record in before if record.pci is not None}
    usable = []
    for nic in nics:
        known = recorded.get(nic.pci)
        if nic.mac is None and known is not None:
            usable.append(replace(nic, mac=known.mac, device=known.device))
        elif nic.mac is not None:
            usable.append(nic)
        else:
            log.warning(
                "the NIC at %s (%s) has no driver of the kernel's: it is not used", nic.pci, nic.pci_id
            )
    found = [Found(nic.mac or "", nic.device or "", nic.pci) for nic in usable]
    identities = identify(found, remembered, [ethernet.match for ethernet in ethernets], reserved)
    return list(zip(usable, identities.present, strict=True)), identities


def wanted_choice(nic: PciNic, identity: Identity, ethernets: Iterable[Ethernet], has_dpdk: bool) -> Choice:
    """The table's choice, unless the document names a driver that needs another binding. Pure."""
    choice = choose(nic.for_choice(), has_dpdk=has_dpdk)
    known = Nic(identity.device, identity.mac, nic.pci, known_pci=identity.pci, driver=choice.driver)
    for ethernet in ethernets:
        if not known.is_meant_by(ethernet.match):
            continue
        if ethernet.driver == "af_packet" and choice.driver != "af_packet":
            return fallback(choice, "the configuration asks for it")
        if ethernet.driver == "dpdk" and choice.driver == "native" and has_dpdk:
            return replace(choice, driver="dpdk")
    return choice


def settle(
    named: Sequence[tuple[PciNic, Identity]],
    absent: Iterable[Identity],
    ethernets: Sequence[Ethernet],
    hands: Hands,
    *,
    has_dpdk: bool,
) -> tuple[list[NicRecord], Mapping[str, str]]:
    """Bind the NICs that need it, before VPP sees them; returns the records, and the renames that are due.

    A NIC that a driver refuses goes through the kernel's, and its record says why.
    """
    records, renames = [], {}
    for nic, identity in named:
        choice = wanted_choice(nic, identity, ethernets, has_dpdk)
        device = nic.device
        try:
            if choice.bind_to is not None:
                hands.bind(nic.pci, choice.bind_to)
            elif nic.bound_to in ("uio_pci_generic", "vfio-pci"):
                device = hands.release(nic.pci)
        except (MillraceError, OSError) as error:
            choice = fallback(choice, f"it cannot be bound: {error}")
            device = nic.device
        if choice.bind_to is None and device is not None:
            renames[device] = identity.device
        _tell(nic, identity, choice)
        records.append(
            NicRecord(
                identity.device,
                identity.mac,
                nic.pci,
                identity.pci,
                nic.pci_id,
                choice.driver,
                choice.bind_to,
                choice.cost,
            )
        )
    return [*records, *absent_records(absent)], renames


def left_to_the_kernel(
    named: Sequence[tuple[PciNic, Identity]], absent: Iterable[Identity]
) -> tuple[list[NicRecord], Mapping[str, str]]:
    """The same where the kernel forwards: nothing is bound. Pure."""
    records = [
        NicRecord(identity.device, identity.mac, nic.pci, identity.pci, nic.pci_id) for nic, identity in named
    ]
    renames = {nic.device: identity.device for nic, identity in named if nic.device is not None}
    return [*records, *absent_records(absent)], renames


def absent_records(absent: Iterable[Identity]) -> list[NicRecord]:
    """NICs that the document means and that are gone."""
    records = []
    for identity in absent:
        log.warning(
            "the NIC %s (%s) is gone; the interface that is on it is left out", identity.device, identity.mac
        )
        records.append(NicRecord(identity.device, identity.mac, None, identity.pci))
    return records


def _tell(nic: PciNic, identity: Identity, choice: Choice) -> None:
    what = f"{identity.device} ({identity.mac}, {nic.pci}, {choice.family})"
    bound = f", bound to {choice.bind_to}" if choice.bind_to is not None else ""
    if choice.cost is not None:
        log.warning("%s: %s", what, choice.cost)
    else:
        log.info("%s: VPP's %s driver%s", what, choice.driver, bound)
