"""VPP as a data plane: packets pass through it and not the kernel, it reports its state, and survives a
restart.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from appliance.compile import compile_document
from appliance.config.load import parse_document
from appliance.dataplane.route_answer import Entry, NextHop
from appliance.dataplane.vpp.backend import VppDataplane
from appliance.engine.backend import BackendUnavailable
from appliance.errors import ValidationFailed
from tests.integration.linux.conftest import DOCUMENT, run
from tests.integration.linux.test_apply import LOOPBACK, WALK, with_changes
from tests.integration.vpp.harness import PrivateVpp
from tests.integration.vpp_dataplane.conftest import Router

pytestmark = [pytest.mark.vpp, pytest.mark.root]


def test_every_step_of_a_walk_reads_back_as_it_was_wanted(router: Router) -> None:
    for document in WALK:
        router.commit(document)
    for document in reversed(WALK):
        router.commit(document)


def test_every_plan_can_be_undone(router: Router) -> None:
    for document in WALK[1:]:
        before = router.backend.observe()
        steps = router.steps(document)
        for step in steps:
            router.backend.apply(step)
        for step in reversed(steps):
            router.backend.undo(step)
        assert router.backend.observe() == before
        router.commit(document)


def test_packets_pass_vpp_and_the_kernel_does_not_forward(router: Router) -> None:
    router.commit(DOCUMENT)
    assert router.ping(router.left, "10.77.2.2")
    assert router.ping(router.left, "2001:db8:77:2::2")
    assert run(router.middle, "sysctl", "-n", "net.ipv4.ip_forward").stdout.strip() == "0"
    assert run(router.middle, "sysctl", "-n", "net.ipv6.conf.all.forwarding").stdout.strip() == "0"
    before = router.backend.counters()["interfaces"]
    assert router.ping(router.left, "10.77.2.2", count=10)
    after = router.backend.counters()["interfaces"]
    for name in ("left0", "right0"):
        assert after[name]["rx_packets"] - before[name]["rx_packets"] >= 10
        assert after[name]["tx_packets"] - before[name]["tx_packets"] >= 10


def test_state_tells_what_is_there(router: Router) -> None:
    router.commit(with_changes(loop0=LOOPBACK))
    state = {entry.name: entry for entry in router.backend.interfaces_state()}
    assert (state["left0"].link, state["left0"].driver, state["left0"].device) == (
        "up",
        "af_packet",
        "nic0",
    )
    assert state["loop0"].type == "loopback"
    router.ping(router.left, "10.77.2.2")
    assert "10.77.1.2" in {entry.address for entry in router.backend.neighbors()}
    assert router.backend.forget_neighbors("left0", "10.77.1.77") == 0
    assert router.backend.forget_neighbors("left0", "10.77.1.2") == 1
    assert "10.77.1.2" not in {entry.address for entry in router.backend.neighbors()}
    router.ping(router.left, "10.77.1.1")
    assert router.backend.forget_neighbors(None, None) >= 1
    run(router.middle, "ip", "route", "add", "198.51.100.0/24", "via", "10.77.2.2")
    wanted = Entry("198.51.100.0/24", "unicast", (NextHop("10.77.2.2", "right0", 1),))
    for _ in range(50):
        if list(router.backend.fib(["198.51.100.0/24"])) == [wanted]:
            break
        run(router.middle, "sleep", "0.05")
    both = ["198.51.100.0/24", "198.51.100.9"]
    assert list(router.backend.fib(both)) == [wanted, wanted]
    assert list(router.backend.kernel_routes(both)) == [wanted, wanted]
    connected, longer = router.backend.fib(["10.77.1.0/24", "198.51.100.0/25"])
    assert isinstance(connected, Entry)
    assert longer is None
    assert router.backend.health().state == "up"
    names = router.backend.look(vpp=lambda vpp: set(vpp.names().values()), linux=lambda kernel: {""})
    assert {"left0", "right0", "loop0"} <= names
    hardware = router.backend.hardware()
    assert (hardware.driver, bool(hardware.version), bool(hardware.memory)) == ("vpp", True, True)
    assert router.backend.acl_state() == []
    json.dumps(router.backend.counters())


class _Restarts:
    """A service manager that knows one service."""

    def __init__(self, vpp: PrivateVpp) -> None:
        self._vpp = vpp
        self.count = 0

    def restart(self, name: str) -> None:
        assert name == "vpp"
        self.count += 1
        self._vpp.kill()
        self._vpp.start()

    def status(self, name: str) -> str:
        return "running"


def test_settings_of_the_start_restart_vpp_and_say_so_before(vpp: PrivateVpp, tmp_path: Path) -> None:
    startup = tmp_path / "startup.conf"
    startup.write_text("memory { main-heap-size 512M }\n")
    services = _Restarts(vpp)
    backend = VppDataplane(
        vpp.api_socket,
        vpp.stats_socket,
        startup,
        vpp.mirror_namespace,
        vpp.namespace,
        services,  # type: ignore[arg-type]  # of the one service it knows
    )
    router = Router(backend, vpp.mirror_namespace, vpp.far(0), vpp.far(1))
    try:
        router.commit(DOCUMENT)
        before = backend.observe()
        steps = router.steps({**DOCUMENT, "dataplane": {"main_heap_mb": 640}})
        assert [step.impact for step in steps if step.impact.startswith("restarts")] == ["restarts vpp"]
        assert steps[0].summary == "restart VPP with main heap mb 640"
        for step in steps:
            backend.apply(step)
        assert "main-heap-size 640M" in startup.read_text()
        assert router.steps({**DOCUMENT, "dataplane": {"main_heap_mb": 640}}) == []
        router.wait_until_neighbors_are_known()
        for step in reversed(steps):
            backend.undo(step)
        assert backend.observe() == before
        assert services.count == 2
    finally:
        backend.close()


def test_a_vpp_that_died_is_unavailable_and_then_empty(router: Router, vpp: PrivateVpp) -> None:
    router.commit(DOCUMENT)
    generation = router.backend.generation
    vpp.kill()
    with pytest.raises(BackendUnavailable):
        router.backend.observe()
    assert router.backend.health().state == "down"
    vpp.start()
    assert len(router.backend.observe().objects) == 0
    assert router.backend.generation > generation
    router.commit(DOCUMENT)
    router.wait_until_neighbors_are_known()


def test_nothing_is_compiled_for_a_nic_that_is_not_there(router: Router) -> None:
    config = parse_document({"interfaces": {"x0": {"type": "ethernet", "match": {"pci": "0000:0b:00.0"}}}})
    with pytest.raises(ValidationFailed, match=r"there is no NIC at PCI address .*; there are: nic0"):
        compile_document(config, "vpp", router.backend.compile_context())
