"""One virtual machine: what it is made of, and the QEMU process that runs it.

    with Machine(Hardware(disk=..., nics=(Nic("52:54:00:6d:72:01"),)), directory) as machine:
        machine.serial.wait_for(r"login:", timeout_s=120)

A killed machine (`kill`) keeps its disk and can be started again: that is a power cut.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal

from tests.image import hypervisor
from tests.image.patience import limit_s
from tests.image.qmp import Qmp
from tests.image.serial_console import SerialConsole
from tests.image.taps import Tap

NicModel = Literal["virtio-net-pci", "virtio-net-pci-non-transitional", "vmxnet3", "e1000e"]
DiskController = Literal["virtio-blk", "virtio-scsi", "pvscsi"]
_START_S = 60.0
_OFFLOADS = (
    *("csum", "gso", "host_tso4", "host_tso6", "host_ecn", "host_ufo"),
    *("guest_csum", "guest_tso4", "guest_tso6", "guest_ecn", "guest_ufo"),
)
"""Of modern virtio data NICs, as in the delivered libvirt domain: through the kernel they need it."""


@dataclass(frozen=True)
class Nic:
    """A network card. Without a tap it is on QEMU's user network, with guest TCP ports `forwards` reachable.

    On the machines used here (every NIC on the root bus) `virtio-net-pci` is the transitional device.
    """

    mac: str
    model: NicModel = "virtio-net-pci"
    tap: Tap | None = None
    forwards: tuple[int, ...] = ()


@dataclass(frozen=True)
class Hardware:
    """What the machine is made of. NICs are plugged in the order given."""

    disk: Path
    nics: tuple[Nic, ...]
    seed: Path | None = None
    chipset: Literal["pc", "q35"] = "q35"
    disk_controller: DiskController = "virtio-blk"
    disk_format: str = "qcow2"
    uefi: bool = False
    vcpus: int = 2
    memory_mb: int = 2048
    extra: tuple[str, ...] = ()


@dataclass
class Machine:
    """The machine with this hardware; its sockets and its serial log are in `directory`."""

    hardware: Hardware
    directory: Path
    ports: dict[int, int] = field(default_factory=dict)
    """Guest TCP port to port of 127.0.0.1, as of the last start."""
    _process: subprocess.Popen[str] | None = None

    def __post_init__(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        self.serial = SerialConsole(self.directory / "serial.sock", self.directory / "serial.log")

    def __enter__(self) -> Machine:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            print(f"\nserial console, last lines ({self.serial.log}):\n{self.serial.tail()}", flush=True)
        self.kill()

    def start(self) -> None:
        """Power on. AssertionError with QEMU's own words when it does not come up."""
        assert self._process is None, "the machine runs already"
        hypervisor.require()
        self.qmp_path.unlink(missing_ok=True)
        # Kept when known: what a test remembers of an address stays true over a restart.
        for nic in self.hardware.nics:
            for port in nic.forwards:
                self.ports.setdefault(port, _free_port())
            if nic.tap is not None:
                nic.tap.fetch()
        with (self.directory / "qemu.log").open("a") as log:
            self._process = subprocess.Popen(
                # QEMU must not outlive a killed test run.
                ["setpriv", "--pdeathsig", "KILL", "--", *self._argv()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                text=True,
            )
        self._wait_for_qmp()
        self.serial.connect()
        for nic in self.hardware.nics:
            if nic.tap is not None:
                nic.tap.hand_over()

    @property
    def qmp_path(self) -> Path:
        """The socket of QEMU's machine protocol."""
        return self.directory / "qmp.sock"

    @property
    def running(self) -> bool:
        """Whether QEMU runs."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """Cut the power: nothing the guest has not written to its disk survives."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait(timeout=30)
        self._process = None
        self.serial.close()
        for nic in self.hardware.nics:
            if nic.tap is not None:
                nic.tap.fetch()

    def reset(self) -> None:
        """Press the reset button."""
        with Qmp(self.qmp_path) as qmp:
            qmp.execute("system_reset")

    def screenshot(self, path: Path) -> Path:
        """Write what the VGA screen shows as a PNG; returns `path`."""
        with Qmp(self.qmp_path) as qmp:
            qmp.execute("screendump", filename=str(path), format="png")
        return path

    def check_alive(self) -> None:
        """AssertionError when QEMU ended or the guest's kernel panicked: nothing more will happen."""
        assert self.running, f"QEMU ended:\n{(self.directory / 'qemu.log').read_text()[-2000:]}"
        assert "Kernel panic" not in self.serial.text(), f"the guest panicked:\n{self.serial.tail()}"

    def _wait_for_qmp(self) -> None:
        deadline_s = time.monotonic() + limit_s(_START_S)
        while True:
            self.check_alive()
            try:
                with Qmp(self.qmp_path) as qmp:
                    qmp.execute("query-status")
                return
            except (OSError, ValueError):
                assert time.monotonic() < deadline_s, "QEMU does not answer"
                time.sleep(0.1)

    def _argv(self) -> list[str]:
        hardware = self.hardware
        return [
            *hypervisor.program(),
            *hypervisor.accelerator(),
            *("-nodefaults", "-no-user-config", "-display", "none", "-vga", "std"),
            *("-machine", hardware.chipset, "-smp", str(hardware.vcpus), "-m", str(hardware.memory_mb)),
            *("-qmp", f"unix:{self.qmp_path},server=on,wait=off"),
            *("-chardev", self.serial.chardev("serial0"), "-serial", "chardev:serial0"),
            *("-object", "rng-random,id=rng0,filename=/dev/urandom", "-device", "virtio-rng-pci,rng=rng0"),
            *self._firmware(),
            *self._disk(),
            *self._seed(),
            *(word for number, nic in enumerate(hardware.nics) for word in self._nic(number, nic)),
            *hardware.extra,
        ]

    def _firmware(self) -> list[str]:
        if not self.hardware.uefi:
            return []
        code, template = hypervisor.uefi_firmware()
        variables = self.directory / "uefi-variables.fd"
        if not variables.exists():
            shutil.copyfile(template, variables)
        return [
            *("-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={code}"),
            *("-drive", f"if=pflash,unit=1,format=raw,file={variables}"),
        ]

    def _disk(self) -> list[str]:
        hardware = self.hardware
        drive = f"if=none,id=disk0,format={hardware.disk_format},file={hardware.disk},discard=unmap"
        if hardware.disk_controller == "virtio-blk":
            return ["-drive", drive, "-device", "virtio-blk-pci,drive=disk0,bootindex=0"]
        controller = {"pvscsi": "pvscsi", "virtio-scsi": "virtio-scsi-pci"}[hardware.disk_controller]
        return [
            *("-drive", drive, "-device", f"{controller},id=scsi0"),
            *("-device", "scsi-hd,bus=scsi0.0,drive=disk0,bootindex=0"),
        ]

    def _seed(self) -> list[str]:
        if self.hardware.seed is None:
            return []
        bus = "ide.0" if self.hardware.chipset == "q35" else "ide.1"
        return [
            *("-drive", f"if=none,id=seed0,format=raw,media=cdrom,readonly=on,file={self.hardware.seed}"),
            *("-device", f"ide-cd,drive=seed0,bus={bus}"),
        ]

    def _nic(self, number: int, nic: Nic) -> list[str]:
        if nic.tap is not None:
            backend = f"tap,id=net{number},ifname={nic.tap.name},script=no,downscript=no"
        else:
            forwards = "".join(f",hostfwd=tcp:127.0.0.1:{self.ports[port]}-:{port}" for port in nic.forwards)
            backend = f"user,id=net{number}{forwards}"
        # No boot ROM: nothing boots from a network here. A fixed slot, so that the order is the one given.
        device = f"{nic.model},netdev=net{number},mac={nic.mac},romfile=,addr={0x10 + number:#x}"
        if nic.tap is not None and nic.model == "virtio-net-pci-non-transitional":
            device += "".join(f",{offload}=off" for offload in _OFFLOADS)
        return ["-netdev", backend, "-device", device]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
