"""An interface that is taken down and removed while Linux adds routes through its mirror."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from ipaddress import IPv4Interface
from pathlib import Path

import pytest

from appliance.dataplane.namespace import Namespace
from appliance.dataplane.vpp.mirrors import take_down
from tests.integration.vpp.harness import PrivateVpp, run
from tests.live_lab import wait_until
from vpp_config import Address, LcpPair, Loopback, Session, VppState, plan

pytestmark = [pytest.mark.vpp, pytest.mark.root]

ROUTES = 60_000
HEARD_S = 0.5
"""Ten times as long as linux_nl waits between two looks at its socket."""


@pytest.fixture
def session(private_vpp: PrivateVpp) -> Iterator[Session]:
    space = Namespace(private_vpp.mirror_namespace)

    def down(_netns: str, name: str) -> bool:
        return space.run(take_down, space, name)

    session = Session(private_vpp.client(), take_down_mirror=down)
    yield session
    _reach(session, VppState.of(()))
    space.close()


def _reach(session: Session, wanted: VppState) -> None:
    for step in plan(wanted, session.observe()):
        session.apply(step)


def _loopback(number: int, netns: str) -> tuple[Loopback, LcpPair, Address]:
    name = f"loop{number}"
    return (
        Loopback(name, instance=number, enabled=True),
        LcpPair(name, name, netns),
        Address(name, IPv4Interface(f"10.9.{number}.1/24")),
    )


def test_no_route_outlives_its_interface(private_vpp: PrivateVpp, session: Session, tmp_path: Path) -> None:
    """Otherwise VPP 26.06 crashes at the next change of such a route."""
    netns = private_vpp.mirror_namespace
    stays, goes = VppState.of(_loopback(1, netns)), VppState.of((*_loopback(1, netns), *_loopback(2, netns)))
    batch = tmp_path / "routes"
    lines = (f"route add 198.18.{n >> 8}.{n & 255}/32 dev loop2\n" for n in range(ROUTES))
    batch.write_text("".join(lines), encoding="ascii")
    _reach(session, goes)
    removal = plan(stays, session.observe())
    with subprocess.Popen(
        ["ip", "-n", netns, "-force", "-batch", str(batch)], stderr=subprocess.DEVNULL
    ) as adding:
        # The first are there: linux_nl hears of one after another while the interface goes down.
        wait_until(
            lambda: bool(run("ip", "route", "show", "198.18.0.0", namespace=netns)),
            timeout_s=10,
            what="a route",
        )
        for step in removal:
            session.apply(step)
        adding.wait(timeout=60)
    time.sleep(HEARD_S)
    left = [line for line in private_vpp.cli("show", "ip", "fib").splitlines() if line.startswith("198.18.")]
    assert left == []
    assert not plan(stays, session.observe())
