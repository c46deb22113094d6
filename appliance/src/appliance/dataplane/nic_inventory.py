"""The boot's record of the NICs, for later programs: ``/run/millrace/nics.json``.

A NIC that is bound for user space has no network device from which its name or MAC could be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.nic import Nic
from appliance.engine import durable

INVENTORY = Path("/run/millrace/nics.json")
PCI_DEVICES = Path("/sys/bus/pci/devices")


@dataclass(frozen=True)
class NicRecord:
    """One data NIC as the boot left it."""

    device: str
    """Its name, whether or not it still has a network device."""
    mac: str
    pci: str | None
    """Its present address; None if it is gone."""
    known_pci: str | None
    """The address it is known by in documents."""
    pci_id: str | None = None
    driver: Literal["native", "dpdk", "af_packet", "kernel"] = "kernel"
    """How the data plane drives it."""
    bound_to: str | None = None
    """The user-space driver it is bound to; None while the kernel's own driver has it."""
    note: str | None = None
    """Why it is slower than it could be."""

    def nic(self) -> Nic:
        """The NIC, as described by this record alone."""
        return Nic(
            self.device,
            self.mac,
            self.pci,
            pci_id=self.pci_id,
            attached=self.bound_to is None,
            known_pci=self.known_pci,
            driver=self.driver,
            note=self.note,
            present=self.pci is not None,
        )


def read(path: Path = INVENTORY) -> tuple[NicRecord, ...]:
    """The records; none if nothing was written. Raises DataPlaneError when they cannot be read."""
    try:
        return tuple(NicRecord(**entry) for entry in json.loads(path.read_bytes())["nics"])
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataPlaneError(f"{path} does not list the NICs: {error}") from error


def write(records: Iterable[NicRecord], path: Path = INVENTORY) -> None:
    """Replace the records. Raises OSError."""
    text: dict[str, Any] = {"nics": [asdict(record) for record in records]}
    durable.make_folder(path.parent)
    durable.write(path, json.dumps(text, indent=1).encode() + b"\n", 0o644)


def merge(
    discovered: Iterable[Nic], records: Iterable[NicRecord], pci_devices: Path = PCI_DEVICES
) -> list[Nic]:
    """NICs the kernel shows, with their records; and NICs only the records know.

    A NIC whose place on the bus is now empty is no longer present.
    """
    left = {nic.device: nic for nic in discovered}
    merged = []
    for record in records:
        seen = _take(left, record)
        if seen is not None:
            pci = seen.pci or record.pci
            nic = replace(
                record.nic(), device=seen.device, pci=pci, kind=seen.kind, attached=True, present=True
            )
            if record.bound_to is not None:
                note = "af_packet, because the kernel's driver has taken it back since boot"
                nic = replace(nic, driver="af_packet", note=note)
            merged.append(nic)
            continue
        gone = record.bound_to is None or record.pci is None or not (pci_devices / record.pci).exists()
        merged.append(replace(record.nic(), present=not gone))
    return sorted([*merged, *left.values()], key=lambda nic: nic.device)


def _take(left: dict[str, Nic], record: NicRecord) -> Nic | None:
    """The shown NIC that this record describes: by name and MAC, or by MAC alone if renamed since."""
    same = [nic for nic in left.values() if nic.mac == record.mac]
    same.sort(key=lambda nic: nic.device != record.device)
    return left.pop(same[0].device) if same else None
