"""A real VPP without linux_nl, two mirrored interfaces, and a feeder next to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_interface

import pytest

from tests import requirements
from tests.fib_feeder import Feeder
from tests.integration.vpp.harness import PrivateVpp, nic_mac, run
from vpp_config import Address, AfPacket, Ethernet, LcpPair, Session, VppObject, VppState, plan
from vpp_config.papi_client import PapiClient

INTERFACES = ("lan0", "wan0")


@dataclass
class Bench:
    """What a test of the feeder works with."""

    vpp: PrivateVpp
    client: PapiClient
    feeder: Feeder

    def ifindex(self, name: str) -> int:
        """The mirror's index in Linux."""
        shown = run("ip", "-o", "link", "show", name, namespace=self.vpp.mirror_namespace)
        return int(shown.split(":")[0])

    def configure(self) -> None:
        """Make both interfaces, each with a mirror and addresses."""
        objects: list[VppObject] = []
        for number, name in enumerate(INTERFACES):
            objects += [
                Ethernet(name, AfPacket(f"nic{number}"), nic_mac(number), enabled=True),
                LcpPair(name, name, self.vpp.mirror_namespace),
                Address(name, ip_interface(f"192.0.2.{number * 16 + 1}/28")),
                Address(name, ip_interface(f"2001:db8:{number}::1/64")),
            ]
        session = Session(self.client)
        for step in plan(VppState.of(objects), session.observe()):
            session.apply(step)

    def restart_vpp(self) -> None:
        """kill -9, start, and configure again, as the agent would."""
        self.client.close()
        self.vpp.kill()
        self.vpp.start()
        self.client = self.vpp.client()
        self.configure()


@pytest.fixture
def bench() -> Iterator[Bench]:
    """A VPP, configured, and a feeder that is connected to it."""
    requirements.require_root_netns()
    requirements.require_vpp()
    requirements.require_rustc()
    with (
        PrivateVpp(without_plugins=("linux_nl",)) as vpp,
        Feeder(vpp.mirror_namespace, vpp.directory, vpp.api_socket) as feeder,
    ):
        bench = Bench(vpp, vpp.client(), feeder)
        bench.configure()
        yield bench
        bench.client.close()
