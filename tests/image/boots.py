"""Booting routers from the built image, each with a seed, a management NIC and its data NICs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.image import hypervisor, seed_disk
from tests.image.artefacts import Artefacts
from tests.image.machine import Hardware, Machine, Nic, NicModel
from tests.image.router import HTTPS, SSH, Credentials, Router
from tests.image.two_hosts import TwoHosts

PASSWORD = "a quiet river turns the wheel"


@dataclass
class Boots:
    """A factory of routers. Everything it made ends with it."""

    built: Artefacts
    directory: Path
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Boots:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all that it made."""
        self._stack.close()

    def on_end(self, action: Callable[[], object]) -> None:
        """Have something done at the end, before what was made earlier goes."""
        self._stack.callback(action)

    def overlay(self, name: str) -> Path:
        """A fresh disk with the image on it."""
        return hypervisor.overlay(self.directory / f"{name}.qcow2", self.built.disk)

    def management(self, number: int = 1, model: NicModel = "virtio-net-pci") -> Nic:
        """A management NIC with ssh and https forwarded."""
        return Nic(f"52:54:00:6d:{number:02x}:01", model, forwards=(SSH, HTTPS))

    def credentials(self) -> Credentials:
        """The key and the password that the seeds of this module carry."""
        return Credentials.make(self.directory, password=PASSWORD)

    def seed(self, name: str, **more: Any) -> Path:
        """A NoCloud disk with host name, password and key; `more` goes on top of its user-data."""
        credentials = self.credentials()
        user_data: dict[str, Any] = {
            "hostname": name,
            "ssh_authorized_keys": [credentials.public_key],
            "millrace": self.password_hash(),
            **more,
        }
        return seed_disk.nocloud(self.directory / f"{name}.iso", instance_id=name, user_data=user_data)

    def password_hash(self) -> dict[str, str]:
        """The administrator's password as a seed carries it."""
        return {"admin_password_hash": _sha512_crypt(PASSWORD)}

    def machine(self, name: str, hardware: Hardware) -> Machine:
        """A machine that is on, and is switched off at the end."""
        return self._stack.enter_context(Machine(hardware, self.directory / name))

    def router(self, name: str, hardware: Hardware) -> Router:
        """A router that is up."""
        router = Router(self.machine(name, hardware), self.credentials())
        self._stack.callback(router.hang_up)
        try:
            router.wait_until_up(f"{name}: power on to REST ({hardware.nics[-1].model}, {hardware.chipset})")
        except BaseException:
            # There are not cores for one more, and the next test boots the next machine.
            router.machine.kill()
            raise
        return router

    def between(self, hosts: TwoHosts, name: str, model: NicModel, **hardware: Any) -> Router:
        """A router between two hosts, its data NICs not configured yet."""
        self._stack.callback(hosts.remove)
        made = Hardware(
            disk=self.overlay(name),
            seed=self.seed(name),
            nics=(self.management(hosts.number), *hosts.nics(model)),
        )
        return self.router(name, replace(made, **hardware))


def _sha512_crypt(password: str) -> str:
    """A hash as in /etc/shadow: crypt(5)."""
    argv = ["openssl", "passwd", "-6", "-stdin"]
    return subprocess.run(argv, input=password, capture_output=True, text=True, check=True).stdout.strip()
