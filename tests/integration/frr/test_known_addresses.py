"""Interfaces that are removed and come back while zebra is busy: it loses their addresses, and gets them
again.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from appliance.agent.router import Router
from appliance.config.document import RouterConfig
from appliance.config.load import parse_document
from appliance.health.check import Look
from appliance.health.known_addresses import tell_again, unknown
from appliance.routing.frr import FrrBackend
from appliance.routing.known_addresses import LINK_LOCAL, untold
from tests.integration.frr.conftest import require_frr
from tests.integration.frr.harness import FrrHarness, ip, wait_until

pytestmark = pytest.mark.root

_LINKS = tuple(f"v{number}" for number in range(12))


def _addresses(name: str) -> tuple[str, ...]:
    number = name.removeprefix("v")
    # Two of one network: zebra lists the first alone.
    return (f"10.50.{number}.1/24", f"10.50.{number}.2/24", f"2001:db8:50:{number}::1/64")


CONFIG: RouterConfig = parse_document(
    {
        "schema_version": 1,
        "interfaces": {
            name: {
                "type": "ethernet",
                "match": {"device": f"nic-{name}"},
                "addresses": list(_addresses(name)),
            }
            for name in _LINKS
        },
    }
)


@pytest.fixture
def frr() -> Iterator[FrrHarness]:
    require_frr()
    name = f"ka-{os.getpid() % 100000}"
    with FrrHarness(name, name, daemons=("mgmtd", "zebra", "staticd")) as harness:
        yield harness


def _make(netns: str, name: str) -> None:
    ip("-n", netns, "link", "add", name, "type", "veth", "peer", "name", f"{name}-far")
    for end in (name, f"{name}-far"):
        ip("-n", netns, "link", "set", end, "up")
    for address in _addresses(name):
        more = ("nodad",) if ":" in address else ()
        ip("-n", netns, "address", "add", address, "dev", name, *more)


def _make_anew_while_zebra_is_busy(frr: FrrHarness, name: str) -> None:
    os.kill(frr.pid("zebra"), signal.SIGSTOP)
    try:
        ip("-n", frr.netns, "link", "del", name)
        _make(frr.netns, name)
    finally:
        os.kill(frr.pid("zebra"), signal.SIGCONT)


def test_what_zebra_lost_is_told_again(frr: FrrHarness) -> None:
    backend = FrrBackend(frr.netns, frr.vty_dir, frr.config_dir)
    for name in _LINKS:
        _make(frr.netns, name)
    wait_until(lambda: not untold(backend.interfaces_known(_LINKS), CONFIG), "zebra knowing every address")

    def knows_links() -> bool:
        known = backend.interfaces_known(_LINKS)
        return all(known.get(name, {}).get("status") == "up" for name in _LINKS)

    # Which of two sockets zebra reads first is chance: of so many some are lost.
    for _ in range(20):
        for name in _LINKS:
            _make_anew_while_zebra_is_busy(frr, name)
        wait_until(knows_links, "zebra knowing the new links")
        if untold(backend.interfaces_known(_LINKS), CONFIG):
            break
    else:
        pytest.skip("this FRR lost no address in 240 tries")

    before = backend.interfaces_known(_LINKS)
    now = backend.interfaces_known(_LINKS)
    look: Look[Any] = Look(now, CONFIG, before)
    lost = untold(before, CONFIG) & untold(now, CONFIG)
    told_of = {finding.object for finding in unknown(look) if finding.kind == "addresses_unknown"}
    assert told_of == {name for name, address in lost if address != LINK_LOCAL}
    tell_again(cast(Router, SimpleNamespace(routing=backend)), look)
    wait_until(lambda: not untold(backend.interfaces_known(_LINKS), CONFIG), "zebra knowing what it lost")
    assert list(unknown(Look(backend.interfaces_known(_LINKS), CONFIG, now))) == []


def test_an_address_that_linux_has_not_is_not_made(frr: FrrHarness) -> None:
    backend = FrrBackend(frr.netns, frr.vty_dir, frr.config_dir)
    _make(frr.netns, "v0")
    ip("-n", frr.netns, "address", "del", "10.50.0.2/24", "dev", "v0")
    wait_until(
        lambda: (
            not untold({"v0": {"status": "up", **backend.interfaces_known(_LINKS).get("v0", {})}}, CONFIG)
        ),
        "zebra knowing the addresses",
    )
    backend.tell_addresses([("v0", "10.50.0.2/24"), ("v0", "10.50.0.1/24"), ("v9", "10.50.9.1/24")])
    shown = subprocess.run(
        ["ip", "-n", frr.netns, "-o", "-4", "address"], capture_output=True, text=True, check=True, timeout=10
    ).stdout
    assert "10.50.0.1/24" in shown
    assert "10.50.0.2/24" not in shown
    assert "10.50.9.1/24" not in shown
