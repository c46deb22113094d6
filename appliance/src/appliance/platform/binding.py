"""Giving a NIC to a driver for user space, and back, through ``driver_override``.

Unlike ``new_id``, which claims every device with that id, it names the one device. It lasts until the next
boot; a restart of VPP does not undo it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from appliance.errors import MillraceError
from appliance.platform import pci as pci_bus
from appliance.platform.nic_table import Binding
from appliance.platform.pci import SYSFS

_NETDEV_S = 5.0


class BindingFailed(MillraceError):
    """A NIC could not be bound to a driver; it has the driver it had before, or none."""


def bind(pci: str, driver: Binding, *, sysfs: Path = SYSFS) -> None:
    """Give the NIC to ``driver``; its network device goes away. Bound already, nothing happens.

    When the driver refuses it, the NIC is given back to the kernel's driver. Raises BindingFailed.
    """
    if _driver(pci, sysfs) == driver:
        return
    try:
        _hand_over(pci, driver, sysfs)
    except OSError as error:
        release(pci, sysfs=sysfs)
        raise BindingFailed(f"{driver} does not take {pci}: {error.strerror}") from error
    if (now := _driver(pci, sysfs)) != driver:
        release(pci, sysfs=sysfs)
        raise BindingFailed(f"{driver} does not take {pci}; it has {now or 'no driver'}")


def release(
    pci: str,
    *,
    sysfs: Path = SYSFS,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Give the NIC back to the kernel's own driver and wait for its network device. Raises BindingFailed."""
    try:
        # A line break alone clears the override: the device's own id decides again.
        _hand_over(pci, "\n", sysfs)
        end = clock() + _NETDEV_S
        while pci_bus.read(pci, sysfs).device is None:
            if clock() > end:
                raise BindingFailed(f"{pci} has no network device after {_NETDEV_S:.0f} s with its driver")
            sleep(0.05)
    except OSError as error:
        raise BindingFailed(f"{pci} cannot be given back: {error.strerror}") from error


def _hand_over(pci: str, override: str, sysfs: Path) -> None:
    device = sysfs / "bus/pci/devices" / pci
    (device / "driver_override").write_text(override)
    if (device / "driver").exists():
        (device / "driver" / "unbind").write_text(pci)
    (sysfs / "bus/pci/drivers_probe").write_text(pci)


def _driver(pci: str, sysfs: Path) -> str | None:
    link = sysfs / "bus/pci/devices" / pci / "driver"
    return link.resolve().name if link.exists() else None
