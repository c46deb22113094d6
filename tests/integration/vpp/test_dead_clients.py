"""Clients that end or are killed, many at once and over time: VPP continues, and forgets each of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from ipaddress import IPv4Interface

import pytest

from tests.feature_files import ROOT
from tests.integration.vpp.harness import PrivateVpp
from tests.requirements import require_root_netns, require_vpp
from vpp_config import Address, LcpPair, Loopback, Session, VppState, plan
from vpp_config.papi_client import PapiClient

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_CLIENTS = 24
"""VPP 26.06 hangs for good once 16 sockets of dead clients are ready at once."""
_TOGETHER = 6
"""More than the agent has."""
_CHILD = """
import sys, threading
from vpp_config.papi_client import PapiClient
clients = [PapiClient(sys.argv[1], name=f"dies-{number}") for number in range(int(sys.argv[2]))]
for client in clients:
    client.call("control_ping")
print("ready", flush=True)
threading.Event().wait()
"""


def _dead(client: PapiClient) -> int:
    listed = str(client.call("cli_inband", cmd="show api clients").reply)
    return listed.count("dies-")


def _forgets(client: PapiClient) -> bool:
    ends_s = time.monotonic() + 20
    while _dead(client):
        if time.monotonic() > ends_s:
            return False
        time.sleep(0.05)
    return True


@contextmanager
def _routes_that_come_and_go(vpp: PrivateVpp) -> Iterator[None]:
    """linux_nl reads its socket until there is nothing: each time it leaves EAGAIN behind."""
    netns = vpp.mirror_namespace
    session = Session(vpp.client())
    mirrored = Loopback("loop1", instance=1, enabled=True), LcpPair("loop1", "loop1", netns)
    state = VppState.of((*mirrored, Address("loop1", IPv4Interface("10.9.1.1/24"))))
    for step in plan(state, session.observe()):
        session.apply(step)
    ended = threading.Event()

    def move() -> None:
        argv = ["ip", "-n", netns, "-batch", "-"]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, text=True) as moving:
            assert moving.stdin is not None
            while not ended.wait(0.01):
                moving.stdin.write("route replace 198.18.0.0/32 dev loop1\n")
                moving.stdin.flush()

    mover = threading.Thread(target=move)
    mover.start()
    try:
        yield
    finally:
        ended.set()
        mover.join()


def test_vpp_forgets_clients_that_were_killed_together() -> None:
    require_root_netns()
    require_vpp()
    with PrivateVpp(nics=0) as vpp, closing(vpp.client()) as client:
        for _ in range(4):
            _killed(vpp, client, _TOGETHER)


def test_vpp_forgets_clients_that_were_killed_one_by_one() -> None:
    require_root_netns()
    require_vpp()
    with PrivateVpp(nics=0) as vpp, closing(vpp.client()) as client, _routes_that_come_and_go(vpp):
        for _ in range(_CLIENTS):
            _killed(vpp, client, 1)
        assert _forgets(client)


def test_vpp_forgets_clients_that_close() -> None:
    require_root_netns()
    require_vpp()
    with PrivateVpp(nics=0) as vpp, closing(vpp.client()) as client, _routes_that_come_and_go(vpp):
        for number in range(_CLIENTS):
            other = PapiClient(vpp.api_socket, name=f"dies-{number}")
            other.call("control_ping")
            other.close()
        assert _forgets(client)


def _killed(vpp: PrivateVpp, client: PapiClient, count: int) -> None:
    """This many clients of one process, which is killed."""
    argv = [sys.executable, "-c", _CHILD, str(vpp.api_socket), str(count)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        os.kill(child.pid, signal.SIGKILL)
    assert _forgets(client)
