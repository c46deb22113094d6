"""zebra's lines for a feeder in real FRR: accepted, read back and removed again while zebra runs."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from frr_config import FrrClient, Routing, plan, render
from tests.integration.frr.conftest import require_frr
from tests.integration.frr.harness import FrrHarness

pytestmark = pytest.mark.root

_FRRS_OWN_LIMIT = 200


@pytest.fixture
def feeding() -> Iterator[FrrHarness]:
    """FRR, zebra with its module, with nothing configured."""
    require_frr()
    name = f"fp-{os.getpid() % 100000}"
    with FrrHarness(name, name, feeds=True) as harness:
        yield harness


def _configure(client: FrrClient, *, feeds: bool) -> list[str]:
    """Summaries of the steps. Asserts that nothing is left to do."""
    desired = render(Routing(), client.version(), feeds=feeds)
    steps = plan(desired, client.observe())
    for step in steps:
        client.apply(step)
    assert client.observe() == desired
    return [step.summary for step in steps]


def _limit(client: FrrClient) -> int:
    """The number of routes that zebra may have waiting for the kernel and the feeder, as zebra reports it."""
    shown = client.show("zebra", "show zebra dplane detailed")
    (limit,) = [
        line.split(":")[1] for line in shown.splitlines() if line.startswith("Route update queue limit:")
    ]
    return int(limit)


def test_the_feeders_lines_come_and_go(feeding: FrrHarness) -> None:
    client = feeding.client()
    assert _limit(client) == _FRRS_OWN_LIMIT
    assert "add queue of routes to the data plane" in _configure(client, feeds=True)
    assert _limit(client) == 5000
    assert "remove queue of routes to the data plane" in _configure(client, feeds=False)
    assert _limit(client) == _FRRS_OWN_LIMIT


def test_a_zebra_that_boots_from_the_file_has_them(feeding: FrrHarness) -> None:
    client = feeding.client()
    desired = render(Routing(), client.version(), feeds=True)
    (feeding.config_dir / "frr.conf").write_text(desired.text())
    feeding.vtysh_boot()
    assert client.observe() == desired
    assert _limit(client) == 5000
