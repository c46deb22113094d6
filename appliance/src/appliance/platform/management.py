"""The management NIC, as first boot has decided and recorded it."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from appliance.platform.pci import PciNic

log = logging.getLogger(__name__)

MANAGEMENT = Path("/run/millrace/management.json")


@dataclass(frozen=True)
class Management:
    """The management NIC, by whatever is known of it."""

    device: str | None = None
    mac: str | None = None
    pci: str | None = None

    def is_of(self, nic: PciNic) -> bool:
        """Whether this NIC is it."""
        if self.pci is not None:
            return nic.pci == self.pci
        if self.mac is not None:
            return nic.mac == self.mac
        return self.device is not None and nic.device == self.device


def read(nics: Sequence[PciNic], path: Path = MANAGEMENT) -> Management:
    """As recorded; without a readable record, the first NIC on the bus: the host has to be reachable."""
    try:
        found = json.loads(path.read_bytes())
        chosen = Management(found["device"], _small(found["mac"]), _small(found["pci"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        log.error("%s does not tell which NIC is for management, so the first is: %s", path, error)
        first = next((nic for nic in nics if nic.device is not None), None)
        return Management() if first is None else Management(first.device, first.mac, first.pci)
    return chosen


def _small(text: str | None) -> str | None:
    return text.lower() if text else None
