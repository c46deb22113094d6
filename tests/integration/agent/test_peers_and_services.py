"""Which peers may use the socket, according to the kernel; and processes restarted under a real
supervisor.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from appliance.service_manager import ServiceError
from appliance.supervisor_manager import SupervisorManager
from tests.integration.agent.harness import REPOSITORY, AgentProcess

NOBODY = 65534
ASK = """
import os, sys
sys.path[:0] = {path!r}
from appliance.client import AgentClient
from appliance.errors import MillraceError
client = AgentClient({socket!r})
os.setgid({gid}); os.setuid({uid})
try:
    print(client.status().revision)
except MillraceError as error:
    print(type(error).__name__, error)
"""


def _ask(agent: AgentProcess, uid: int, gid: int) -> str:
    script = ASK.format(path=sys.path, socket=str(agent.socket), uid=uid, gid=gid)
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd=REPOSITORY,
    )
    return done.stdout + done.stderr


@pytest.mark.root
@pytest.mark.parametrize(("allowed", "answer"), [((NOBODY,), "0\n"), ((), "AgentRefused user 65534")])
def test_only_named_users_are_served(allowed: tuple[int, ...], answer: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("becoming another user needs root")
    # Not below pytest's folder, which every other run of pytest closes to other users.
    with (
        TemporaryDirectory(prefix="mr-peers-") as directory,
        AgentProcess(Path(directory), allowed_uids=allowed) as agent,
    ):
        Path(directory).chmod(0o755)
        # Without being named nobody would not even reach the socket; the check behind it has to hold alone.
        if not allowed:
            agent.socket.chmod(0o666)
        assert _ask(agent, NOBODY, NOBODY).startswith(answer)


@pytest.mark.root
def test_uid_0_of_another_group_is_not_root(tmp_path: Path) -> None:
    """As VPP runs: with root's uid and a group of its own."""
    if os.geteuid() != 0:
        pytest.skip("becoming another group needs root")
    with AgentProcess(tmp_path) as agent:
        assert _ask(agent, 0, 0) == "0\n"
        assert _ask(agent, 0, NOBODY).startswith("AgentRefused root in group 65534 may not use the agent")


def test_supervisor_restarts_a_program(tmp_path: Path) -> None:
    listening = tmp_path / "s.sock"
    config = tmp_path / "supervisord.conf"
    config.write_text(
        f"[unix_http_server]\nfile={listening}\n"
        f"[supervisord]\nnodaemon=true\nlogfile={tmp_path}/log\npidfile={tmp_path}/pid\n"
        "[rpcinterface:supervisor]\n"
        "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface\n"
        "[program:sleeper]\ncommand=sleep 600\nstartsecs=0\nautorestart=false\n"
        "[program:doomed]\ncommand=false\nstartsecs=60\nstartretries=0\nautostart=false\n"
    )
    argv = [sys.executable, "-m", "supervisor.supervisord", "-c", str(config)]
    supervisord = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        manager = SupervisorManager(listening)
        deadline = time.monotonic() + 20
        while True:
            try:
                if manager.status("sleeper") == "running":
                    break
            except ServiceError:
                assert time.monotonic() < deadline
            time.sleep(0.05)
        before = manager._supervisor().getProcessInfo("sleeper")["pid"]
        manager.restart("sleeper")
        assert manager.status("sleeper") == "running"
        assert manager._supervisor().getProcessInfo("sleeper")["pid"] != before
        manager._supervisor().stopProcess("sleeper")
        manager.restart("sleeper")
        assert manager.status("sleeper") == "running"
        with pytest.raises(ServiceError, match="nothing"):
            manager.restart("nothing")
        assert manager.failed() == (), "a program that was never started has not failed"
        with pytest.raises(ServiceError, match="doomed"):
            manager.restart("doomed")
        assert manager.failed() == ("doomed",)
    finally:
        supervisord.terminate()
        supervisord.wait(20)
    with pytest.raises(ServiceError):
        manager.status("sleeper")
    with pytest.raises(ServiceError):
        manager.failed()
