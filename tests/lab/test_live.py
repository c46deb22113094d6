"""`lab up` and `lab down` as a newcomer's `make up` and `make down` run them, under a prefix of its own."""

import os
import signal
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from lab import frr_daemons
from lab.dataplane_choice import choose
from lab.leftovers import marked_processes
from lab.supervision import Supervisor
from tests.live_lab import clear_dead_lab, wait_until
from tests.requirements import needs_root_netns

pytestmark = [needs_root_netns, pytest.mark.timeout(600)]
_PREFIX = "lu"
_REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class _Live:
    directory: Path
    dataplane: str

    def lab(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "lab", *words, "--prefix", _PREFIX, "--directory", str(self.directory)]
        done = subprocess.run(argv, cwd=_REPOSITORY, capture_output=True, text=True, timeout=300, check=False)
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
        return done

    def environment(self) -> dict[str, str]:
        lines = (self.directory / "env").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def bgp_uptime_s(self) -> float:
        summary = frr_daemons.show(f"{_PREFIX}-dataplane", "show bgp summary")
        return float(summary["ipv4Unicast"]["peers"]["192.0.2.1"]["peerUptimeMsec"]) / 1000


def _traces() -> set[str]:
    """Everything that could remain of a lab with this prefix."""
    folders = ("/run/netns", "/etc/netns", "/etc/frr", "/var/run/frr", "/var/lib/frr", "/dev/shm", "/var/tmp")
    return {
        str(entry)
        for folder in map(Path, folders)
        if folder.is_dir()
        for entry in folder.iterdir()
        if entry.name.startswith(f"{_PREFIX}-") or entry.name.endswith(f"-{_PREFIX}")
    }


def _settings() -> dict[str, str]:
    """The settings of the machine that labs change, where no other lab could have changed them."""
    if Path("/run/millrace-lab").exists():
        return {}
    names = ("/proc/sys/net/core/rmem_max", "/proc/sys/vm/nr_hugepages")
    return {name: Path(name).read_text() for name in names}


@pytest.fixture(scope="module")
def live() -> Iterator[_Live]:
    """A lab with the data plane a newcomer gets here; the acceptance tests run labs with either."""
    clear_dead_lab(_PREFIX)
    before, settings = _traces(), _settings()
    directory = Path(tempfile.mkdtemp(prefix="mr-lab-", dir="/tmp"))
    lab = _Live(directory, choose("auto").dataplane)
    try:
        lab.lab("up")
        yield lab
    finally:
        lab.lab("down")
    assert _traces() == before
    after = _settings()
    assert {name: settings.get(name, value) for name, value in after.items()} == after
    assert marked_processes(directory) == []
    assert not directory.exists()


def test_the_page_answers_and_the_token_works(live: _Live) -> None:
    env = live.environment()
    trust = ssl.create_default_context(cafile=env["CA_FILE"])
    with httpx.Client(base_url=env["BASE_URL"], verify=trust, timeout=30) as client:
        assert client.get("/", follow_redirects=True).status_code == 200
        assert client.get("/api/v1/config").status_code == 401
        answer = client.get("/api/v1/config", headers={"Authorization": f"Bearer {env['TOKEN']}"})
        assert answer.status_code == 200
    assert env["DATAPLANE"] == live.dataplane


def test_a_second_up_leaves_a_healthy_lab_alone(live: _Live) -> None:
    before, uptime_s = live.environment(), live.bgp_uptime_s()
    done = live.lab("up")
    assert "up already" in done.stderr
    assert before["BASE_URL"] in done.stdout
    assert live.environment() == before
    assert live.bgp_uptime_s() > uptime_s


def test_another_data_plane_is_refused(live: _Live) -> None:
    other = "linux" if live.dataplane == "vpp" else "vpp"
    done = live.lab("up", "--dataplane", other, check=False)
    assert done.returncode == 1
    assert "down" in done.stderr


def test_up_mends_a_lab_whose_supervisor_and_agent_were_killed(live: _Live) -> None:
    before = live.environment()
    supervisor = Supervisor(live.directory)
    agent = supervisor.pid("agent")
    os.kill(int(supervisor.pid_file.read_text()), signal.SIGKILL)
    os.kill(agent, signal.SIGKILL)
    assert live.lab("status", check=False).returncode == 1
    live.lab("up")
    assert live.environment() == before
    live.lab("status")


def test_up_mends_a_lab_that_lost_a_namespace(live: _Live) -> None:
    subprocess.run(["ip", "netns", "delete", f"{_PREFIX}-core"], check=True)
    assert live.lab("status", check=False).returncode == 1
    live.lab("up")
    live.lab("status")


def test_a_killed_data_plane_and_routing_come_back_without_a_human(live: _Live) -> None:
    supervisor = Supervisor(live.directory)
    for name in ("bgpd", *(["vpp"] if live.dataplane == "vpp" else [])):
        os.kill(supervisor.pid(name), signal.SIGKILL)
    live.lab("up")  # waits, and does nothing else: supervisord and the agent do the rest
    live.lab("status")


def test_what_leans_on_zebra_is_restarted_with_it(live: _Live) -> None:
    """As with watchfrr: a daemon does not send a new zebra the routes that it sent the old one."""
    supervisor = Supervisor(live.directory)
    before = {name: supervisor.pid(name) for name in ("ospfd", "bgpd", "staticd")}
    os.kill(supervisor.pid("zebra"), signal.SIGKILL)

    def restarted() -> bool:
        pids = {name: supervisor.pid(name) for name in before}
        return all(pids[name] not in (0, before[name]) for name in before)

    wait_until(restarted, timeout_s=60, what="the daemons behind zebra are others")
    live.lab("up")
    live.lab("status")
