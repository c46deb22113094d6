"""``upgrade`` and ``show upgrade``: what is sent, what is watched, and what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.cli import upgrade
from appliance.cli.errors import CommandError
from appliance.cli.session import Session
from appliance.client.answers import Answer
from appliance.errors import AgentUnavailable, Conflict


class UpgradableAgent:
    """Takes the parts, then reports the given progress, one entry for each query."""

    def __init__(self, *progress: dict[str, Any] | Exception) -> None:
        self.received = b""
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self._progress = list(progress)
        self.manifest: dict[str, Any] = {"version": "2.0.0", "older": False}

    def upgrade_part(self, data: bytes, offset: int, size: int) -> Answer:
        assert offset == len(self.received)
        self.received += data
        return Answer(received_bytes=len(self.received), size_bytes=size, manifest=self.manifest)

    def install_upgrade(self, **options: Any) -> None:
        self.asked.append(("install", options))

    def switch_slot(self, **options: Any) -> None:
        self.asked.append(("switch", options))

    def upgrade(self) -> Answer:
        now = self._progress.pop(0) if len(self._progress) > 1 else self._progress[0]
        if isinstance(now, Exception):
            raise now
        return Answer(available=True, slots={"running": "a"}, progress=now)


def _at(state: str, percent: int = 0, detail: str = "") -> dict[str, Any]:
    return {"state": state, "percent": percent, "detail": detail}


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade, "_LOOK_S", 0)
    monkeypatch.setattr(upgrade, "_PART_BYTES", 4)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "new.mru"
    path.write_bytes(b"0123456789")
    return path


def _run(agent: UpgradableAgent, *words: str) -> tuple[str, str]:
    """What the command says at the end, and what it said on the way."""
    said: list[str] = []
    as_client: Any = agent
    output = upgrade.upgrade(as_client, "ann", list(words), said.append)
    return output.shown, "".join(said)


def test_sent_in_parts_and_watched_to_the_reboot(file: Path) -> None:
    agent = UpgradableAgent(_at("checking"), _at("writing", 40, "10 of 20 MiB"), _at("rebooting", 100))
    shown, said = _run(agent, str(file))
    assert agent.received == b"0123456789"
    assert agent.asked == [("install", {"author": "ann", "reboot": True, "allow_downgrade": False})]
    assert "version 2.0.0, signature valid" in said
    assert "sending 100 %" in said
    assert "writing 40 % 10 of 20 MiB" in said
    assert "the router reboots" in shown


def test_no_reboot(file: Path) -> None:
    agent = UpgradableAgent(_at("ready", 100))
    shown, _ = _run(agent, str(file), "no-reboot")
    assert agent.asked == [("install", {"author": "ann", "reboot": False, "allow_downgrade": False})]
    assert "`upgrade switch` boots it" in shown


@pytest.mark.parametrize("option", ["allow-downgrade", "--allow-downgrade"])
def test_a_downgrade_is_warned_of_and_asked_for_in_words(file: Path, option: str) -> None:
    agent = UpgradableAgent(_at("ready", 100))
    agent.manifest = {"version": "0.9.0", "older": True}
    _, said = _run(agent, str(file), option, "no-reboot")
    assert "WARNING: this version is older than the running one" in said
    assert agent.asked == [("install", {"author": "ann", "reboot": False, "allow_downgrade": True})]


def test_switch() -> None:
    agent = UpgradableAgent(_at("rebooting", 100))
    _run(agent, "switch")
    _run(agent, "switch", "allow-downgrade")
    assert agent.asked == [
        ("switch", {"author": "ann", "allow_downgrade": allowed}) for allowed in (False, True)
    ]
    with pytest.raises(CommandError, match="upgrade switch"):
        _run(agent, "switch", "nonsense")


def test_the_reboot_ends_the_agent_first(file: Path) -> None:
    shown, _ = _run(UpgradableAgent(_at("verifying", 90), AgentUnavailable("gone")), str(file))
    assert "the router reboots" in shown


def test_a_failure_is_an_error(file: Path) -> None:
    """A control character in what the service says does not reach the terminal."""
    with pytest.raises(CommandError, match="the upgrade failed: the disk may be failing"):
        _run(UpgradableAgent(_at("failed", 0, "the disk may be failing\x1b[2J")), str(file))


def test_a_refused_part_ends_it(file: Path) -> None:
    agent = UpgradableAgent(_at("ready"))

    def refuse(data: bytes, offset: int, size: int) -> Answer:
        raise Conflict("not signed by the maker")

    agent.upgrade_part = refuse  # type: ignore[method-assign]  # this one agent's
    with pytest.raises(Conflict, match="not signed"):
        _run(agent, str(file))
    assert agent.asked == []


@pytest.mark.parametrize(
    "words,said",
    [
        ((), "upgrade FILE"),
        (("{file}", "now"), "upgrade FILE"),
        (("{file}", "no-reboot", "more"), "upgrade FILE"),
        (("{file}", "no-reboot", "no-reboot"), "upgrade FILE"),
        (("{folder}/absent.mru",), "cannot be read: No such file"),
        (("{folder}",), "cannot be read: Is a directory"),
        (("{folder}/empty.mru",), "is empty"),
    ],
)
def test_what_is_not_understood(file: Path, words: tuple[str, ...], said: str) -> None:
    (file.parent / "empty.mru").write_bytes(b"")
    filled = [word.format(file=file, folder=file.parent) for word in words]
    with pytest.raises(CommandError, match=said):
        _run(UpgradableAgent(_at("ready")), *filled)


def test_show_upgrade() -> None:
    agent: Any = UpgradableAgent(None)  # type: ignore[arg-type]  # nothing was done since the boot
    assert "running a" in Session(agent, "ann").line("show upgrade")
