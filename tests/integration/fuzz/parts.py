"""The processes whose sockets are tried: as fixtures, for the short run and the long one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import bmp_stream as bmp
from tests import requirements
from tests.bgp_index_process import BgpIndex
from tests.fib_feeder import Feeder
from tests.integration.agent.harness import AgentProcess
from tests.integration.vpp.harness import run


@pytest.fixture
def namespace() -> Iterator[str]:
    """A network namespace of the test's own."""
    requirements.require_root_netns()
    requirements.require_rustc()
    name = f"fuzz{os.getpid() % 100000}"
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


@pytest.fixture
def bgpd() -> Iterator[bmp.Listener]:
    """bgpd's listener, which a test speaks for."""
    with bmp.Listener() as listener:
        yield listener


@pytest.fixture
def index(bgpd: bmp.Listener, tmp_path: Path) -> Iterator[BgpIndex]:
    """An index that reads from it."""
    requirements.require_rustc()
    with BgpIndex(tmp_path, f"127.0.0.1:{bgpd.port}") as index:
        yield index


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[AgentProcess]:
    """An agent whose router is a file."""
    with AgentProcess(tmp_path) as agent:
        yield agent
