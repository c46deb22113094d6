"""The agent's small parts, each alone."""

from __future__ import annotations

import json
import logging
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from appliance.agent import settings
from appliance.agent.logfmt import LogfmtFormatter
from appliance.agent.notify import notify
from appliance.agent.peers import listening_socket
from appliance.errors import ValidationFailed
from appliance.secrets import SealError, SecretBox


def test_a_sealed_secret_opens_with_its_own_key_only(tmp_path: Path) -> None:
    box = SecretBox.open(tmp_path)
    sealed = box.seal("hunter22")
    assert "hunter22" not in sealed
    assert SecretBox.open(tmp_path).unseal(sealed) == "hunter22"
    assert stat.S_IMODE((tmp_path / "secret.key").stat().st_mode) == 0o600
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(SealError) as failed:
        SecretBox.open(other).unseal(sealed)
    assert "hunter22" not in str(failed.value)
    with pytest.raises(SealError):
        box.unseal("$sealed$ünreadable")


def test_no_message_ends_a_log_line() -> None:
    record = logging.LogRecord("x", logging.INFO, "", 0, 'a\nlevel=error message="forged"', None, None)
    line = LogfmtFormatter().format(record)
    assert "\n" not in line
    assert line.endswith('message="a\\nlevel=error message=\\"forged\\""')


def test_systemd_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notify("READY=1")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        notify("READY=1")
        assert listening.recv(64) == b"READY=1"


def test_a_socket_left_by_a_dead_agent_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "run" / "agent.sock"
    for _ in range(2):
        with listening_socket(path, None, frozenset()):
            assert stat.S_IMODE(path.stat().st_mode) == 0o660


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"socket": "/s", "state_dir": "/d", "dataplane": "ovs"}, "/dataplane"),
        ({"socket": "/s", "state_dir": "/d", "dataplane": "vpp"}, ""),
        ({"socket": "/s", "state_dir": "/d", "dataplane": "linux", "netns": "a b"}, "/netns"),
        ({"socket": "/s", "state_dir": "/d", "dataplane": "linux", "more": 1}, "/more"),
    ],
)
def test_settings_that_are_wrong_are_named(tmp_path: Path, given: dict[str, Any], pointer: str) -> None:
    path = tmp_path / "agent.json"
    path.write_text(json.dumps(given))
    with pytest.raises(ValidationFailed) as failed:
        settings.load(path)
    assert [problem.pointer for problem in failed.value.problems] == [pointer]
