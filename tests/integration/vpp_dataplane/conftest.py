"""The VPP data plane between two namespaces, so that the linux data plane's tests can be asked of it::

left 10.77.1.2/24 --- nic0 [VPP] nic1 --- 10.77.2.2/24 right
     2001:db8:77:1::2/64                2001:db8:77:2::2/64
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from appliance.compile import compile_document
from appliance.config.load import parse_document
from appliance.config.validate import check
from appliance.dataplane.vpp.backend import VppDataplane
from appliance.dataplane.vpp.plan import VppStep
from appliance.engine.backend import PHASES
from tests.integration.linux.conftest import DOCUMENT, run
from tests.integration.vpp.harness import PrivateVpp
from tests.requirements import require_root_netns, require_vpp

DEVICES = {"nic-l": "nic0", "nic-r": "nic1"}
"""What the linux tests call the NICs, and what they are called here."""


@dataclass(frozen=True)
class Router:
    """As the linux data plane's; only the data plane is another."""

    backend: VppDataplane
    middle: str
    left: str
    right: str

    def commit(self, document: dict[str, Any]) -> list[VppStep]:
        """Steps of the document, all applied; the second plan has to be empty."""
        steps = self.steps(document)
        for step in steps:
            self.backend.apply(step)
        assert self.steps(document) == []
        return steps

    def steps(self, document: dict[str, Any]) -> list[VppStep]:
        """The plan from now to the document."""
        config = parse_document(_with_devices(document))
        assert check(config, self.backend.capabilities()) == []
        desired = compile_document(config, "vpp", self.backend.compile_context())["vpp"]
        steps = self.backend.plan(desired, self.backend.observe())
        return sorted(steps, key=lambda step: PHASES.index(step.phase))

    def ping(self, source: str, destination: str, count: int = 2) -> bool:
        """Whether all of a few pings from a namespace are answered."""
        command = ["ping", "-q", "-n", "-i", "0.05", "-W", "3", "-c", str(count), destination]
        return run(source, *command, check=False).returncode == 0

    def wait_until_neighbors_are_known(self) -> None:
        """VPP drops the packet for which it has to resolve an address: ping both ways until none is lost."""
        for _ in range(10):
            ways = (
                (self.left, "10.77.2.2"),
                (self.left, "2001:db8:77:2::2"),
                (self.right, "10.77.1.2"),
                (self.right, "2001:db8:77:1::2"),
                (self.middle, "10.77.1.2"),
                (self.middle, "10.77.2.2"),
            )
            lost = [way for way in ways if not self.ping(*way)]
            if not lost:
                return
        raise AssertionError("VPP does not forward")

    def hits(self, name: str) -> dict[int, int]:
        """Packets by rule sequence."""
        known = next(entry for entry in self.backend.acl_state() if entry.name == name)
        return {rule.sequence: rule.packets for rule in known.rules}


def _with_devices(document: dict[str, Any]) -> dict[str, Any]:
    document = copy.deepcopy(document)
    for interface in document.get("interfaces", {}).values():
        if "match" in interface:
            interface["match"] = {"device": DEVICES[interface["match"]["device"]]}
    return document


@pytest.fixture(scope="module")
def vpp(request: pytest.FixtureRequest) -> Iterator[PrivateVpp]:
    """A VPP of the module's, without the plugins that its ``WITHOUT_PLUGINS`` names."""
    require_root_netns()
    require_vpp()
    with PrivateVpp(without_plugins=getattr(request.module, "WITHOUT_PLUGINS", ())) as vpp:
        for number in (0, 1):
            far, device = vpp.far(number), f"peer{number}"
            run(far, "ip", "addr", "add", f"10.77.{number + 1}.2/24", "dev", device)
            run(far, "ip", "addr", "add", f"2001:db8:77:{number + 1}::2/64", "dev", device, "nodad")
            run(far, "ip", "route", "add", "default", "via", f"10.77.{number + 1}.1")
            run(far, "ip", "-6", "route", "add", "default", "via", f"2001:db8:77:{number + 1}::1")
        yield vpp


@pytest.fixture
def router(vpp: PrivateVpp) -> Iterator[Router]:
    backend = VppDataplane(vpp.api_socket, vpp.stats_socket, None, vpp.mirror_namespace, vpp.namespace)
    router = Router(backend, vpp.mirror_namespace, vpp.far(0), vpp.far(1))
    try:
        router.commit(DOCUMENT)
        router.wait_until_neighbors_are_known()
        yield router
    finally:
        backend.close()
