"""The address from which a session of the command line came."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from appliance.cli.session import Session
from appliance.cli.ssh import caller_address
from appliance.client.answers import PlanAnswer
from appliance.impact.result import Finding, Result, summary
from tests.unit.appliance.cli.agent import FakeAgent


def _process(proc: Path, pid: int, parent: int, environment: bytes = b"") -> None:
    (proc / str(pid)).mkdir()
    (proc / str(pid) / "stat").write_text(f"{pid} (a (strange) name) S {parent} 1 1")
    (proc / str(pid) / "environ").write_bytes(environment)


@pytest.mark.parametrize(
    ("connection", "address"),
    [
        ("198.51.100.7 50000 192.0.2.1 22", "198.51.100.7"),
        ("2001:db8::7 50000 2001:db8::1 22", "2001:db8::7"),
        ("fe80::7%mgmt0 50000 fe80::1 22", "fe80::7"),
        ("", None),
        ("UNKNOWN 0 UNKNOWN 0", None),
    ],
)
def test_ssh_says_from_where(tmp_path: Path, connection: str, address: str | None) -> None:
    assert caller_address({"SSH_CONNECTION": connection}, 1, tmp_path) == address


def test_sudo_forgets_it_and_the_processes_before_it_know(tmp_path: Path) -> None:
    _process(tmp_path, 40, 30)
    _process(tmp_path, 30, 20, b"PATH=/bin\0")
    _process(tmp_path, 20, 10, b"HOME=/\0SSH_CONNECTION=198.51.100.7 1 192.0.2.1 22\0")
    assert caller_address({}, 40, tmp_path) == "198.51.100.7"


def test_the_console_is_nowhere(tmp_path: Path) -> None:
    _process(tmp_path, 40, 30)
    _process(tmp_path, 30, 1, b"PATH=/bin\0")
    assert caller_address({}, 40, tmp_path) is None


class _Agent(FakeAgent):
    def plan(self, document: dict[str, Any], caller_address: str | None = None) -> PlanAnswer:
        reasons = ["it changes lan0"] if caller_address == "198.51.100.7" else []
        return PlanAnswer(own_path=reasons, confirm_default_s=120.0 if reasons else None)


@pytest.mark.parametrize("address", ["198.51.100.7", None])
def test_check_warns_and_commit_tells_from_where(address: str | None) -> None:
    agent: Any = _Agent({"schema_version": 1})
    session = Session(agent, "alice", caller_address=address)
    session.line("configure; set system hostname r2")
    assert ("it changes lan0" in session.line("check")) == (address is not None)
    session.line("commit no-confirm comment why")
    options = agent.commits[-1]
    assert (options.caller_address, options.confirm_s) == (address and ip_address(address), 0)
    session.line("set system hostname r3; commit")
    assert agent.commits[-1].confirm_s is None


class _Foretelling(FakeAgent):
    """Its plan has a finding; a neighbor gave itself the name in its evidence."""

    def plan(self, document: dict[str, Any], caller_address: str | None = None) -> PlanAnswer:
        finding = Finding(
            grade="possible",
            kind="traffic",
            path="/interfaces/wan0/mtu",
            text="Packets above 1,300 bytes no longer pass wan0.",
            depends_on="such packets pass wan0",
            evidence="evil\x1b[2J",
        )
        answer = Result(findings=(finding,), looked_at=("MTU and links",))
        return PlanAnswer(result=answer.model_dump(), summary=summary(answer, []))


def test_check_tells_what_the_result_does_also_on_the_console() -> None:
    agent: Any = _Foretelling({"schema_version": 1})
    session = Session(agent, "alice")
    assert session.line("configure; check").splitlines() == ["no problems: the candidate can be committed"]
    assert session.line("set system hostname r2; check").splitlines()[-5:] == [
        "no problems: the candidate can be committed",
        "possible: Packets above 1,300 bytes no longer pass wan0. (if such packets pass wan0) "
        "(now: evil?[2J)",
        "The steps themselves reset no session and lose no packet: what is found comes of their result.",
        "Afterwards: 1 possible.",
        "Looked at: MTU and links.",
    ]
