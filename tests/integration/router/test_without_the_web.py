"""Without PostgreSQL, Redis and the web the router forwards and converges, and the command line commits."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.traffic import Flow
from tests.live_lab import REPOSITORY, LiveLab, live_lab, wait_until
from tests.requirements import require_root_netns, vpp_installed

pytestmark = [pytest.mark.integration, pytest.mark.root]

WEB_HALF = ("web", "postgres", "redis")


@pytest.fixture(scope="module")
def live_on_postgres() -> Iterator[LiveLab]:
    require_root_netns()
    dataplane = "vpp" if vpp_installed() else "linux"
    with live_lab("ap", dataplane, "postgres") as lab:
        yield lab


def _cli(live: LiveLab, *commands: str) -> str:
    argv = [str(Path(sys.executable).with_name("millrace"))]
    argv += ["-c", "; ".join(commands)]
    environment = {**os.environ, "MILLRACE_AGENT_SOCKET": live.environment["AGENT_SOCKET"]}
    done = subprocess.run(
        argv, env=environment, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_router_lives_without_its_web_half(live_on_postgres: LiveLab) -> None:
    live = live_on_postgres
    names = live.topology.namespaces
    wait_until(lambda: live.api.get("/status").status_code == 200, timeout_s=30, what="the API answers")
    revision = live.agent.status().revision
    with Flow(
        live.directory,
        sender=names.lan,
        receiver=names.wan_host,
        destination="203.0.113.10",
        pps=2000,
        seconds=120,
        port=7103,
    ) as flow:
        for program in WEB_HALF:
            live.supervisorctl("stop", program)
        _cli(
            live,
            "configure",
            "set routing static 198.51.100.0/24 next_hops address 10.20.0.2",
            "commit comment without-the-web",
        )
        assert live.agent.status().revision == revision + 1

        # The core neighbour is stopped and started: OSPF converges without an observer.
        live.supervisorctl("stop", "core-neighbour")
        wait_until(lambda: not _core_route(live), timeout_s=60, what="OSPF withdraws the core's prefix")
        live.supervisorctl("start", "core-neighbour")
        wait_until(lambda: _core_route(live), timeout_s=90, what="OSPF brings the core's prefix back")
        result = flow.stop()
    for program in WEB_HALF:
        live.supervisorctl("start", program)
    assert (result.lost, result.duplicates) == (0, 0), result


def _core_route(live: LiveLab) -> bool:
    """Whether the kernel of the router's namespace has the prefix behind the core."""
    return bool(
        live.topology.run(live.topology.namespaces.router, ["ip", "route", "show", "10.30.0.0/24"]).strip()
    )
