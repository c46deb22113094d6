"""Who may speak FPM to the feeder, and BMP to the index, by the kernel's word."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import bmp_stream as bmp
from tests import fpm_stream as fpm
from tests import requirements
from tests.bgp_index_process import BgpIndex
from tests.fib_feeder import Feeder
from tests.integration.vpp.harness import run

pytestmark = [pytest.mark.root]

_DAEMON = 1
_STRANGER = """
import os, socket, sys
os.setgid({user}); os.setuid({user})
connection = socket.create_connection(("127.0.0.1", 2620), timeout=10)
connection.sendall(bytes.fromhex({frame!r}))
print(connection.recv(1))
"""


@pytest.fixture
def namespace() -> Iterator[str]:
    """A network namespace of the test's own."""
    requirements.require_root_netns()
    requirements.require_rustc()
    name = f"stranger{os.getpid() % 100000}"
    run("ip", "netns", "add", name)
    try:
        run("ip", "link", "set", "lo", "up", namespace=name)
        yield name
    finally:
        run("ip", "netns", "delete", name)


def _speak(namespace: str, user: int, frame: bytes) -> str:
    """What a user sees who sends a frame: the end of the connection, if it is refused."""
    argv = [sys.executable, "-c", _STRANGER.format(user=user, frame=frame.hex())]
    done = subprocess.run(
        ["ip", "netns", "exec", namespace, *argv], capture_output=True, text=True, check=False, timeout=30
    )
    return done.stdout + done.stderr


def test_another_user_is_not_zebra_and_does_not_displace_it(namespace: str, tmp_path: Path) -> None:
    route = fpm.frame(fpm.special("198.51.100.0/24", fpm.BLACKHOLE))
    hostile = fpm.frame(fpm.special("0.0.0.0/0", fpm.BLACKHOLE))
    with Feeder(namespace, tmp_path, tmp_path / "no-vpp.sock", options=("--fpm-user", "root")) as feeder:
        feeder.zebra().send(route)
        before = _wait_wanted(feeder, 1)
        seen = _speak(namespace, _DAEMON, hostile)
        assert "b''" in seen or "ConnectionReset" in seen or "BrokenPipe" in seen, seen
        after = feeder.status()
        assert (after["zebra"]["strangers"], after["ipv4"]["wanted"]) == (1, 1)
        assert after["zebra"]["connections"] == before["zebra"]["connections"] == 1
        assert after["zebra"]["connected"]
        log = (tmp_path / "feeder.log").read_text()
        assert "refused connection 1 to FPM" in log and "it is user 1's, not user 0's" in log


def test_the_user_that_is_named_is_taken(namespace: str, tmp_path: Path) -> None:
    """And root is not: the feeder knows zebra by its user, not by its rights."""
    with Feeder(namespace, tmp_path, tmp_path / "no-vpp.sock", options=("--fpm-user", "daemon")) as feeder:
        stranger = feeder.zebra()
        deadline = time.monotonic() + 30
        while feeder.status()["zebra"]["strangers"] == 0:
            assert time.monotonic() < deadline, feeder.status()
            time.sleep(0.02)
        del stranger
        script = _STRANGER.replace("print(connection.recv(1))", "input()")
        frame = fpm.frame(fpm.special("198.51.100.0/24", fpm.BLACKHOLE))
        argv = [sys.executable, "-c", script.format(user=_DAEMON, frame=frame.hex())]
        with subprocess.Popen(["ip", "netns", "exec", namespace, *argv], stdin=subprocess.PIPE) as zebra:
            status = _wait_wanted(feeder, 1)
            assert status["zebra"]["connected"]
            zebra.communicate(b"\n", timeout=30)


def _wait_wanted(feeder: Feeder, count: int) -> dict[str, dict[str, int]]:
    deadline = time.monotonic() + 30
    while (status := feeder.status())["ipv4"]["wanted"] != count:
        assert time.monotonic() < deadline, status
        time.sleep(0.02)
    return status


@pytest.mark.parametrize(("user", "told"), [("root", True), ("daemon", False)])
def test_the_index_reads_from_the_user_that_is_named_only(user: str, told: bool, tmp_path: Path) -> None:
    requirements.require_rustc()
    peer = bmp.Peer("192.0.2.1", 65001)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        with BgpIndex(tmp_path, address, options=("--bmp-user", user)) as index:
            index.search("ipv4")
            if told:
                connection, _ = listener.accept()
                connection.sendall(bmp.initiation() + bmp.peer_up(peer))
                status = index.wait(lambda status: bool(status["neighbors"]), "a neighbor")
                assert status["why"] is None
                connection.close()
            else:
                status = index.wait(lambda status: bool(status["why"]), "a refusal")
                assert status["why"] == (
                    f"what listens at {address} is not bgpd: "
                    f"it is user {os.geteuid()}'s, not user {_DAEMON}'s"
                )
                assert status["neighbors"] == []
