"""A guest's NIC as an interface of a network namespace of the host."""

from __future__ import annotations

import os
from dataclasses import dataclass

from lab import namespaces
from lab.command import run


@dataclass(frozen=True)
class Tap:
    """A tap device that becomes `port0` of `namespace`, with the addresses of a host there.

    QEMU opens it by name in the namespace it runs in, so it is made there and moved once it is open.
    """

    name: str
    namespace: str
    addresses: tuple[str, ...] = ()
    gateways: tuple[str, ...] = ()

    def fetch(self) -> None:
        """Have it in this process's own namespace, ready to be opened."""
        if namespaces.exists(self.namespace):
            argv = ["ip", "-n", self.namespace, "link", "set", "port0", "netns", str(os.getpid())]
            run([*argv, "name", self.name], check=False)  # the first time there is none yet
        shown = run(["ip", "-o", "link", "show", "dev", self.name], check=False)
        if not shown:
            run(["ip", "tuntap", "add", "dev", self.name, "mode", "tap"])

    def hand_over(self) -> None:
        """Give it, opened, to its namespace, and configure the host there."""
        if not namespaces.exists(self.namespace):
            namespaces.add(self.namespace)
            run(["ip", "-n", self.namespace, "link", "set", "lo", "up"])
        run(["ip", "link", "set", self.name, "netns", self.namespace, "name", "port0"])
        self.configure()

    def configure(self) -> None:
        """Bring it up with its addresses and its routes."""
        inside = ["ip", "-n", self.namespace]
        run([*inside, "link", "set", "port0", "up"])
        for address in self.addresses:
            nodad = ["nodad"] if ":" in address else []
            run([*inside, "address", "replace", address, "dev", "port0", *nodad])
        for gateway in self.gateways:
            family = "-6" if ":" in gateway else "-4"
            run([*inside, family, "route", "replace", "default", "via", gateway])

    def remove(self) -> None:
        """Remove the device with its namespace, wherever it is now."""
        namespaces.delete(self.namespace)
        run(["ip", "link", "delete", self.name], check=False)  # gone with the namespace, as a rule
