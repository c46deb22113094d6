"""The feeder alone: its log, its status socket and the end of a resync need no VPP."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import fpm_stream as fpm
from tests import requirements
from tests.fib_feeder import Feeder
from tests.integration.vpp.harness import run

pytestmark = [pytest.mark.root]

_HOPS, _PAGE = 64, 1000


@pytest.fixture
def namespace() -> Iterator[str]:
    """A network namespace of the test's own."""
    requirements.require_root_netns()
    requirements.require_rustc()
    name = f"feeder{os.getpid() % 100000}"
    run("ip", "netns", "add", name)
    try:
        run("ip", "link", "set", "lo", "up", namespace=name)
        yield name
    finally:
        run("ip", "netns", "delete", name)


@pytest.fixture
def feeder(namespace: str, tmp_path: Path) -> Iterator[Feeder]:
    """A feeder whose VPP is not there."""
    with Feeder(namespace, tmp_path, tmp_path / "no-vpp.sock") as feeder:
        yield feeder


def test_a_zebra_that_is_never_quiet_ends_its_walk_all_the_same(feeder: Feeder) -> None:
    zebra = feeder.zebra()
    zebra.send(fpm.frame(fpm.special("198.51.100.0/24", fpm.BLACKHOLE)))
    kept, came = fpm.special("203.0.113.0/24", fpm.BLACKHOLE), fpm.special("203.0.113.0/24", fpm.PROHIBIT)
    deadline = time.monotonic() + 60
    while feeder.status()["zebra"]["resync"]:
        assert time.monotonic() < deadline, feeder.status()
        zebra.send((fpm.frame(kept), fpm.frame(came)))
        time.sleep(0.2)
    status = feeder.status()
    assert (status["ipv4"]["wanted"], status["ipv4"]["stale"], status["zebra"]["swept"]) == (2, 0, 0)


def test_it_does_not_wait_for_one_who_reads_slowly_and_tells_him_all(feeder: Feeder) -> None:
    zebra = feeder.zebra()
    zebra.send(fpm.frame(fpm.next_hop(at, f"192.0.2.{at}", 900 + at)) for at in range(1, _HOPS + 1))
    zebra.send(fpm.frame(fpm.group(_PAGE, [(at, 1) for at in range(1, _HOPS + 1)])))
    zebra.send(fpm.many_ipv4(_PAGE, _PAGE))
    deadline = time.monotonic() + 30
    while feeder.status()["ipv4"]["wanted"] < _PAGE:
        assert time.monotonic() < deadline, feeder.status()
    with socket.socket(socket.AF_UNIX) as slow:
        slow.connect(str(feeder.status_socket))
        slow.sendall(f"routes ipv4 limit={_PAGE}\n".encode())
        time.sleep(0.5)  # as one does whose machine is busy
        assert feeder.status()["ipv4"]["wanted"] == _PAGE
        with slow.makefile() as answer:
            page = json.loads(answer.readline())
    assert len(page["routes"]) == page["total"] == _PAGE
    assert {len(row["hops"]) for row in page["routes"]} == {_HOPS}


def test_it_lives_when_nobody_reads_its_log(feeder: Feeder) -> None:
    feeder.kill()
    reading, writing = os.pipe()
    os.close(reading)
    argv = feeder.argv()
    feeder.status_socket.unlink(missing_ok=True)
    process = subprocess.Popen(argv, stdout=writing, stderr=writing)
    os.close(writing)
    try:
        deadline = time.monotonic() + 10
        while not feeder.status_socket.exists():
            assert time.monotonic() < deadline and process.poll() is None, "it ended"
            time.sleep(0.02)
        stranger = feeder.zebra()
        stranger.send(b"GET / HTTP/1.1\r\n\r\n")
        while feeder.status()["zebra"]["connections"] == 0 or feeder.status()["zebra"]["connected"]:
            assert time.monotonic() < deadline
        assert process.poll() is None
    finally:
        process.kill()
        process.wait(10)
