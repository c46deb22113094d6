"""A whole router for the command line to drive: linux data plane, FRR, and the agent as a process.

::

    left 10.78.1.2/24 --- nic-l [router, agent] nic-r --- 10.78.2.2/24 right
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from appliance.cli.__main__ import main
from appliance.client import AgentClient
from appliance.errors import AgentUnavailable
from tests.integration.frr.harness import FrrHarness, frr_installed

START_S = 30.0


@dataclass(frozen=True)
class CommandLine:
    """`millrace` as a person runs it, and the router's surroundings."""

    socket: Path
    left: str

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """One run of the program, in this process: starting Python anew takes longer than most commands."""
        words = ["--socket", str(self.socket), *arguments]
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.setattr(sys, "stdin", io.StringIO(stdin))
            patch.setenv("SUDO_USER", "nina")
            status = main(words)
        return subprocess.CompletedProcess(words, status, out.getvalue(), err.getvalue())

    def run_apart(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """One run as a process of its own, the socket told by the environment."""
        return subprocess.run(
            [sys.executable, "-m", "appliance.cli", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "MILLRACE_AGENT_SOCKET": str(self.socket)},
        )

    def done(self, *arguments: str, stdin: str = "") -> str:
        """The output of a run that has to succeed."""
        run = self.run(*arguments, stdin=stdin)
        assert run.returncode == 0, run.stderr + run.stdout
        return run.stdout

    def json(self, *arguments: str) -> Any:
        """The JSON a run printed."""
        return json.loads(self.done("--json", *arguments))

    def ping(self, destination: str) -> bool:
        """From the host on the left."""
        command = ["ping", "-q", "-n", "-c", "2", "-i", "0.1", "-W", "3", destination]
        run = ["ip", "netns", "exec", self.left, *command]
        return subprocess.run(run, capture_output=True, check=False, timeout=20).returncode == 0


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True, timeout=30)


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """One router for all tests of a module; each test restores it, or declares what it needs."""
    if not frr_installed():
        pytest.skip("FRRouting is not installed")
    directory = tmp_path_factory.mktemp("cli")
    names = [f"cli{os.getpid() % 100000}{side}" for side in ("m", "l", "r")]
    middle, left, right = names
    for name in names:
        _ip("netns", "add", name)
    try:
        for nic, side, number in (("nic-l", left, 1), ("nic-r", right, 2)):
            _ip("link", "add", nic, "netns", middle, "type", "veth", "peer", "name", "eth0", "netns", side)
            _ip("-n", side, "link", "set", "eth0", "up")
            _ip("-n", side, "addr", "add", f"10.78.{number}.2/24", "dev", "eth0")
            _ip("-n", side, "route", "add", "default", "via", f"10.78.{number}.1")
        with FrrHarness(middle, middle) as frr:
            settings = {
                "socket": str(directory / "agent.sock"),
                "state_dir": str(directory / "state"),
                "dataplane": "linux",
                "netns": middle,
                "nic_netns": middle,
                "frr_vty_dir": str(frr.vty_dir),
                "frr_config_dir": str(directory),
                "host_root": str(directory / "root"),
            }
            (directory / "agent.json").write_text(json.dumps(settings))
            with (directory / "agent.log").open("wb") as log:
                agent = subprocess.Popen(
                    [sys.executable, "-m", "appliance.agent", "--config", str(directory / "agent.json")],
                    stdout=log,
                    stderr=log,
                )
            try:
                _wait(directory, agent)
                yield CommandLine(directory / "agent.sock", left)
            finally:
                agent.terminate()
                agent.wait(30)
    finally:
        for name in names:
            _ip("netns", "del", name)


def _wait(directory: Path, agent: subprocess.Popen[bytes]) -> None:
    client = AgentClient(directory / "agent.sock")
    end = time.monotonic() + START_S
    while True:
        try:
            client.status()
        except AgentUnavailable:
            log = (directory / "agent.log").read_text()
            assert agent.poll() is None, log
            assert time.monotonic() < end, log
            time.sleep(0.1)
        else:
            client.close()
            return
