"""Two hosts with the router between them.

    left  10.77.1.2 ── .1 [ left0 router right0 ] .1 ── 10.77.2.2  right
          2001:db8:77:1::2                   2001:db8:77:2::2

Each host is a network namespace of this machine, its cable a tap device of the guest.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lab import namespaces
from lab.traffic import Flow, FlowResult
from tests.image.machine import Nic, NicModel
from tests.image.patience import wait_for
from tests.image.taps import Tap

INTERFACES = ("left0", "right0")
_FORWARDS_S = 60.0


@dataclass(frozen=True)
class TwoHosts:
    """The hosts, and what the router has to be told for them. `number`, 1 to 99, keeps machines apart."""

    number: int = 1

    def tap(self, side: int) -> Tap:
        """The cable of a side: 1 is left, 2 is right."""
        prefix = f"mri{os.getpid() % 100000}"
        return Tap(
            name=f"{prefix}t{self.number}{side}",
            namespace=f"{prefix}-{self.number}-{('left', 'right')[side - 1]}",
            addresses=(f"10.77.{side}.2/24", f"2001:db8:77:{side}::2/64"),
            gateways=(f"10.77.{side}.1", f"2001:db8:77:{side}::1"),
        )

    @property
    def left(self) -> str:
        """Namespace of the left host."""
        return self.tap(1).namespace

    @property
    def right(self) -> str:
        """Namespace of the right host."""
        return self.tap(2).namespace

    def mac(self, side: int) -> str:
        """MAC address of the router's NIC on a side."""
        return f"52:54:00:6d:{self.number:02x}:{0x10 + side:02x}"

    def nics(self, model: NicModel) -> tuple[Nic, Nic]:
        """The router's two data NICs."""
        return (Nic(self.mac(1), model, self.tap(1)), Nic(self.mac(2), model, self.tap(2)))

    def interfaces(self, **settings: Any) -> dict[str, Any]:
        """The interfaces of the router's document; `settings` go on both."""
        return {
            name: {
                "type": "ethernet",
                "match": {"mac": self.mac(side)},
                "addresses": [f"10.77.{side}.1/24", f"2001:db8:77:{side}::1/64"],
                **settings,
            }
            for side, name in enumerate(INTERFACES, 1)
        }

    def ping(self, address: str, *, source: str | None = None, count: int = 1, size_bytes: int = 56) -> bool:
        """Whether every echo from the left host (or `source`) is answered."""
        argv = ["ping", "-n", "-q", "-c", str(count), "-i", "0.2", "-W", "2", "-s", str(size_bytes), address]
        shown = namespaces.run_in(source or self.left, argv, check=False, timeout_s=30 + 3 * count)
        return " 0% packet loss" in shown

    def wait_until_forwarding(self, timeout_s: float = _FORWARDS_S) -> None:
        """Wait until both families pass from the left to the right host."""
        for address in ("10.77.2.2", "2001:db8:77:2::2"):
            wait_for(partial(self.ping, address), timeout_s=timeout_s, what=f"an echo from {address}")

    def flow(self, directory: Path, *, pps: float, seconds: float) -> FlowResult:
        """Send UDP from left to right and see what became of it."""
        with Flow(
            directory,
            sender=self.left,
            receiver=self.right,
            destination="10.77.2.2",
            pps=pps,
            seconds=seconds,
        ) as flow:
            return flow.result()

    def remove(self) -> None:
        """Remove namespaces and cables."""
        for side in (1, 2):
            self.tap(side).remove()
