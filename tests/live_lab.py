"""A whole lab, as `make up` starts it, under a name prefix of its own: for acceptance and browser tests.

One lab per data plane and database serves every test of a session: starting one takes some twenty seconds.
"""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from appliance.client import AgentClient
from lab.kernel_settings import Register
from lab.leftovers import marked_processes, process_alive
from lab.namespaces import Dataplane
from lab.topology import Topology

REPOSITORY = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class LiveLab:
    """A running lab: its namespaces, its agent, its REST API.

    ``api`` carries an administrator's token and the lab's own CA; its base address ends in ``/api/v1``.
    """

    dataplane: str
    directory: Path
    environment: dict[str, str]
    topology: Topology
    agent: AgentClient
    api: httpx.Client

    @property
    def base_url(self) -> str:
        """Where a browser finds the lab."""
        return self.environment["BASE_URL"]

    def lab(self, *arguments: str, timeout_s: float = 180) -> str:
        """Run ``python -m lab`` on this lab."""
        return _lab(self.topology.prefix, self.directory, *arguments, timeout_s=timeout_s)

    def supervisorctl(self, *arguments: str) -> str:
        """Run supervisorctl on this lab's supervisor; stopping an already stopped program is no error."""
        argv = [
            sys.executable,
            "-m",
            "supervisor.supervisorctl",
            "-c",
            str(self.directory / "supervisord.conf"),
        ]
        done = subprocess.run([*argv, *arguments], capture_output=True, text=True, timeout=180, check=False)
        return done.stdout + done.stderr

    def vppctl(self, *words: str) -> str:
        """Ask VPP's command line, which knows nothing of Millrace: an independent witness."""
        argv = ["vppctl", "-s", self.environment["VPP_CLI_SOCKET"], *words]
        return subprocess.run(argv, capture_output=True, text=True, timeout=30, check=True).stdout


def wait_until(
    condition: Callable[[], object],
    *,
    timeout_s: float,
    what: str,
    instead: Callable[[], object] = lambda: "",
) -> None:
    """Wait for a state; the failure names the state that was not reached, and what there was ``instead``."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"still waiting after {timeout_s:g} s: {what} {instead()}".rstrip())
        time.sleep(0.1)


@contextmanager
def live_lab(
    prefix: str,
    dataplane: str,
    database: str = "sqlite",
    prepare: Callable[[Path], None] = lambda _directory: None,
) -> Iterator[LiveLab]:
    """Start a lab, hand it out, and take it down again whatever happened.

    Its directory is short, for the sockets in it, and lets the unprivileged half of the lab pass. ``prepare``
    is given it before anything is in it; what it mounts below is unmounted in the end.
    ``MILLRACE_TEST_PREFIX``, a letter, is put before ``prefix``: two checkouts can run their
    tests at the same time.
    """
    prefix = os.environ.get("MILLRACE_TEST_PREFIX", "") + prefix
    plane: Dataplane = "vpp" if dataplane == "vpp" else "linux"
    clear_dead_lab(prefix)
    directory = Path(tempfile.mkdtemp(prefix=f"mr-{prefix}-"))
    directory.chmod(0o711)
    try:
        prepare(directory)
        arguments = ("up", "--dataplane", dataplane, "--database", database)
        _lab(prefix, directory, *arguments, timeout_s=300)
        lines = (directory / "env").read_text().splitlines()
        environment = dict(line.split("=", 1) for line in lines if "=" in line)
        with httpx.Client(
            base_url=environment["BASE_URL"] + "/api/v1",
            headers={"Authorization": f"Bearer {environment['TOKEN']}"},
            verify=ssl.create_default_context(cafile=environment["CA_FILE"]),
            timeout=60,
        ) as api:
            agent = AgentClient(environment["AGENT_SOCKET"])
            topology = Topology(prefix, directory, plane)
            yield LiveLab(dataplane, directory, environment, topology, agent, api)
    finally:
        _unmount_below(directory)
        _lab(prefix, directory, "down")
        shutil.rmtree(directory, ignore_errors=True)  # what tests themselves put there, such as built tools


def clear_dead_lab(prefix: str) -> None:
    """Remove the remains of a killed test run under this prefix; a running lab is left alone."""
    registered = Register().find(prefix)
    if registered is None or marked_processes(Path(registered.directory)):
        return
    # Another run's that has no processes: still on its way up, or namespaces only.
    if registered.maker not in (0, os.getpid()) and process_alive(registered.maker):
        return
    directory = Path(registered.directory)
    _unmount_below(directory)
    _lab(prefix, directory, "down")
    shutil.rmtree(directory, ignore_errors=True)


def _unmount_below(directory: Path) -> None:
    """Unmount what a test mounted inside a lab's directory, even while processes still use it."""
    mounts = [Path(line.split()[4]) for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    for mount in sorted((path for path in mounts if path.is_relative_to(directory)), reverse=True):
        subprocess.run(["umount", "--lazy", str(mount)], check=True, capture_output=True, timeout=30)


def _lab(prefix: str, directory: Path, *arguments: str, timeout_s: float = 180) -> str:
    command, *rest = arguments
    argv = [sys.executable, "-m", "lab", command, "--prefix", prefix, *rest]
    done = subprocess.run(
        argv,
        cwd=REPOSITORY,
        env={**os.environ, "MILLRACE_LAB_DIR": str(directory)},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(f"python -m lab {command} failed:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def json_of(response: httpx.Response, *, status: int = 200) -> Any:
    """The body of an answer that must have this status."""
    assert response.status_code == status, (
        f"{response.request.method} {response.request.url}: {response.text}"
    )
    return response.json()


def patch(live: LiveLab, change: dict[str, Any], query: str = "confirm_s=0") -> Any:
    """Commit a merge patch by REST, or do what the query says instead; it may take minutes."""
    headers = {"Content-Type": "application/merge-patch+json"}
    return json_of(live.api.patch(f"/config?{query}", json=change, headers=headers, timeout=600))
