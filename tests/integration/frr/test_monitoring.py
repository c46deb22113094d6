"""BMP in real FRR: a listener for the index of routes, added and removed with BGP, never crashes bgpd."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from frr_config import FrrClient, Routing, plan, render
from frr_config.protocols.bgp.monitoring import PORT
from lab.namespaces import run_in
from tests.integration.frr.conftest import INTERFACES, require_frr
from tests.integration.frr.harness import FrrHarness

pytestmark = pytest.mark.root

_CONNECT = (
    "import socket,sys\n"
    "try: socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5).close()\n"
    "except ConnectionRefusedError: print('refused')\n"
    "else: print('taken')\n"
)
_BGP: dict[str, Any] = {
    "asn": 65000,
    "router_id": "10.255.0.1",
    "neighbors": {"10.9.0.2": {"remote_asn": 65001, "ipv4_unicast": {}}},
}


@pytest.fixture(scope="module")
def monitored() -> Iterator[FrrHarness]:
    """zebra, and bgpd with its module."""
    require_frr()
    name = f"fm-{os.getpid() % 100000}"
    with FrrHarness(name, name, indexed=True) as harness:
        harness.add_link("d0", *INTERFACES["d0"])
        yield harness


@pytest.fixture
def client(monitored: FrrHarness) -> FrrClient:
    """Of a router with nothing configured."""
    client = monitored.client()
    _configure(client, {}, indexed=False)
    return client


def _configure(client: FrrClient, document: dict[str, Any], *, indexed: bool = True) -> list[str]:
    """Summaries of the steps. Asserts that nothing is left to do."""
    desired = render(Routing.model_validate(document), client.version(), indexed=indexed)
    steps = plan(desired, client.observe())
    for step in steps:
        client.apply(step)
    assert client.observe() == desired
    return [step.summary for step in steps]


def _connect(frr: FrrHarness) -> str:
    """``taken`` or ``refused``: several times, as the kernel deals connections out to all who listen."""
    words = ["python3", "-c", _CONNECT, str(PORT)]
    (said,) = {run_in(frr.netns, words).strip() for _ in range(8)}
    assert frr.client().health()["bgpd"].running
    return said


def test_bgpd_listens_while_bgp_is_configured(monitored: FrrHarness, client: FrrClient) -> None:
    summaries = _configure(client, {"bgp": _BGP})
    assert "add BGP routes for the index" in summaries
    assert _connect(monitored) == "taken"
    assert _configure(client, {"bgp": _BGP}) == []
    assert _configure(client, {}) != []
    assert _connect(monitored) == "refused"


def test_where_there_is_no_index_nobody_listens(monitored: FrrHarness, client: FrrClient) -> None:
    _configure(client, {"bgp": _BGP}, indexed=False)
    assert _connect(monitored) == "refused"
    _configure(client, {"bgp": _BGP})
    assert _connect(monitored) == "taken"
    # bgpd keeps an empty group of targets, which says nothing.
    assert _configure(client, {"bgp": _BGP}, indexed=False) == ["remove BGP routes for the index"]
    assert _connect(monitored) == "refused"


def test_another_as_number_leaves_no_listener_behind(monitored: FrrHarness, client: FrrClient) -> None:
    """bgpd frees a listener together with its instance but still accepts connections for it, and crashes."""
    pid = monitored.pid("bgpd")
    for asn in (65000, 65010, 65020):
        _configure(client, {"bgp": {**_BGP, "asn": asn}})
        assert _connect(monitored) == "taken"
        listening = run_in(monitored.netns, ["ss", "-Hltn", f"sport = :{PORT}"]).splitlines()
        assert len(listening) == 1, listening
    _configure(client, {})
    assert _connect(monitored) == "refused"
    os.kill(pid, 0)


def test_undone_steps_leave_everything_as_it_was(client: FrrClient) -> None:
    _configure(client, {"bgp": _BGP})
    before = client.observe()
    for document in ({}, {"bgp": {**_BGP, "asn": 65010}}):
        desired = render(Routing.model_validate(document), client.version(), indexed=True)
        steps = plan(desired, before)
        for step in steps:
            client.apply(step)
        for step in reversed(steps):
            client.undo(step)
        assert client.observe() == before


def test_frr_boots_from_the_file(monitored: FrrHarness, client: FrrClient) -> None:
    document = Routing.model_validate({"bgp": _BGP})
    desired = render(document, client.version(), indexed=True)
    (monitored.config_dir / "frr.conf").write_text(desired.text())
    monitored.vtysh_boot()
    assert client.observe() == desired
    assert _connect(monitored) == "taken"


def test_a_listener_that_somebody_else_made_is_taken_back(monitored: FrrHarness, client: FrrClient) -> None:
    _configure(client, {"bgp": _BGP})
    monitored.vtysh(
        "configure terminal",
        "router bgp 65000",
        "bmp targets other",
        "bmp monitor ipv4 unicast pre-policy",
        "bmp listener 127.0.0.1 port 2631",
    )
    assert _configure(client, {"bgp": _BGP}) != []
    assert run_in(monitored.netns, ["ss", "-Hltn", "sport = :2631"]) == ""
