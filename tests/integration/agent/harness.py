"""The toy agent as a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from appliance.client import AgentClient
from appliance.errors import AgentUnavailable, MillraceError
from appliance.state.commit_options import CommitOptions

REPOSITORY = Path(__file__).resolve().parents[3]
START_S = 20.0


class AgentProcess:
    """An agent in ``directory`` whose router is a pair of files; start, kill and start it again."""

    def __init__(self, directory: Path, step_s: float = 0.0, allowed_uids: tuple[int, ...] = ()) -> None:
        self.directory, self._step_s = directory, step_s
        self.socket = directory / "agent.sock"
        self.state_dir = directory / "state"
        self.client = AgentClient(self.socket, timeout_s=20)
        self._process: subprocess.Popen[bytes] | None = None
        settings = {
            "socket": str(self.socket),
            "state_dir": str(self.state_dir),
            "dataplane": "linux",
            "allowed_uids": list(allowed_uids),
            "reconcile_interval_s": 0.1,
        }
        (directory / "agent.json").write_text(json.dumps(settings))

    def start(self) -> None:
        """Start it and wait until it answers."""
        argv = [sys.executable, "-m", "tests.integration.agent.toy_agent"]
        argv += ["--config", str(self.directory / "agent.json"), "--router", str(self.directory)]
        argv += ["--step-s", str(self._step_s)]
        with (self.directory / "agent.log").open("ab") as log:
            self._process = subprocess.Popen(argv, cwd=REPOSITORY, stdout=log, stderr=log)
        deadline = time.monotonic() + START_S
        while True:
            try:
                self.client.status()
                return
            except AgentUnavailable:
                assert self._process.poll() is None, (self.directory / "agent.log").read_text()
                assert time.monotonic() < deadline, "the agent does not answer"
            time.sleep(0.02)

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """kill -9."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """SIGTERM; returns the exit status."""
        return self._end(signal.SIGTERM)

    def live(self) -> dict[str, dict[str, str]]:
        """The router, whoever runs it."""
        found = {}
        for backend, name in (("linux", "plane"), ("frr", "routing")):
            path = self.directory / f"{name}.json"
            found[backend] = json.loads(path.read_text()) if path.exists() else {}
        return found

    def _end(self, number: signal.Signals) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        status = self._process.wait(20)
        self._process = None
        return status

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._process is not None:
            self.kill()
        self.client.close()


def quietly_commit(client: AgentClient, document: dict[str, Any], request_id: str) -> None:
    """A commit whose agent may die on the way."""
    try:
        client.commit(document, CommitOptions(author="alice", request_id=request_id))
    except MillraceError:
        return
