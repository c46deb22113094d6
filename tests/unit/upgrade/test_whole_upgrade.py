"""From the upload to the decision, over boots, power cuts and failures, on an appliance made of files."""

import errno
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.errors import AgentUnavailable
from appliance.upgrade import attempt, grubenv, image_writer, progress, slots, trial, versions
from appliance.upgrade.attempt import Request
from appliance.upgrade.errors import UpgradeRefused
from appliance.upgrade.install import perform
from appliance.upgrade.progress import Reporter
from appliance.upgrade.trial import Patience
from tests.unit.upgrade.appliance_on_disk import SLOT_BYTES, WELL, Appliance, file_system

INSTALL = Request(action="install", author="ann", document_schema=1, deadline_s=60)
SWITCH = Request(action="switch", author="ann", document_schema=1, deadline_s=60)
ILL = replace(WELL, bgp_established=frozenset())


class Clock:
    """Time that passes only when somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def patience(self) -> Patience:
        return Patience(interval_s=5, calm=3, clock=lambda: self.now, sleep=self._sleep)

    def _sleep(self, seconds: float) -> None:
        self.now += seconds


def _install(router: Appliance, request: Request = INSTALL) -> None:
    perform(router.machine, request, Reporter(router.paths.progress))


def _good(router: Appliance) -> dict[str, str]:
    return grubenv.read(router.paths.environment_block)


def _outcome(router: Appliance) -> tuple[str, str]:
    last = attempt.read(router.paths.attempt)
    assert last is not None
    return last.outcome, last.reason


def _installed(router: Appliance) -> bytes:
    """Version 2.0.0 in slot b, about to be booted."""
    trial.decide(router.machine)
    content = file_system()
    router.upload(content)
    _install(router)
    return content


def test_the_whole_way(router: Appliance) -> None:
    content = _installed(router)
    assert router.slot("b")[: len(content)] == content
    assert router.slot("a") == b"a" * SLOT_BYTES
    assert _good(router) == {"good": "a", "try": "b"}
    assert router.reboots == 1

    assert router.boot() == "b"
    router.runs(version="2.0.0")
    assert _good(router) == {"good": "a", "try": ""}
    assert slots.read(router.paths).on_trial
    assert trial.decide(router.machine, Clock().patience())
    assert _good(router) == {"good": "b", "try": ""}
    assert _outcome(router) == ("kept", "")
    assert router.reboots == 1
    assert router.boot() == "b"
    contents = slots.read(router.paths).contents
    assert {slot: content.version for slot, content in contents.items()} == {"a": "1.0.0", "b": "2.0.0"}


def test_what_the_console_is_shown(router: Appliance) -> None:
    _installed(router)
    router.boot()
    router.runs(version="2.0.0")
    router.seen = [AgentUnavailable("not yet"), WELL]
    trial.decide(router.machine, Clock().patience())
    shown = json.loads(router.paths.shown.read_text())
    assert shown == {"slot": "b", "good": "b", "trying": False, "versions": {"a": "1.0.0", "b": "2.0.0"}}
    assert router.paths.shown.stat().st_mode & 0o777 == 0o644


def test_a_slot_that_stays_ill_is_left(router: Appliance) -> None:
    _installed(router)
    router.boot()
    router.seen = [ILL]
    clock = Clock()
    assert not trial.decide(router.machine, clock.patience())
    assert clock.now == pytest.approx(60, abs=5)
    assert router.reboots == 2
    assert _good(router) == {"good": "a", "try": ""}
    assert _outcome(router) == ("returned", "the BGP session with 192.0.2.1 is not back")
    assert router.boot() == "a"
    assert trial.decide(router.machine)
    assert _outcome(router)[0] == "returned"


def test_a_slot_that_needs_a_while_is_kept(router: Appliance) -> None:
    _installed(router)
    router.boot()
    router.seen = [AgentUnavailable("starting"), ILL, WELL, ILL, WELL]
    assert trial.decide(router.machine, Clock().patience())
    assert _outcome(router)[0] == "kept"


def test_a_slot_that_is_well_now_and_then_is_left(router: Appliance) -> None:
    """A session that comes up and goes down again does not count as health."""
    _installed(router)
    router.boot()
    router.seen = [WELL, WELL, ILL] * 100
    assert not trial.decide(router.machine, Clock().patience())


@pytest.mark.parametrize("when", ["kernel panic", "power cut on trial"])
def test_a_slot_that_says_nothing_is_left(router: Appliance, when: str) -> None:
    """The second boot is that of the old slot, whatever the result of the first."""
    _installed(router)
    assert router.boot() == "b"
    assert router.boot() == "a"
    assert trial.decide(router.machine)
    outcome, reason = _outcome(router)
    assert outcome == "returned"
    assert "its kernel stopped" in reason


def test_power_cut_between_the_decision_and_its_record(router: Appliance) -> None:
    _installed(router)
    router.boot()
    grubenv.change(router.paths.environment_block, good="b")
    assert router.boot() == "b"
    assert trial.decide(router.machine)
    assert _outcome(router) == ("kept", "")


def test_power_cut_before_the_reboot(router: Appliance) -> None:
    """The attempt is written first: without GRUB's variable nothing was tried, and that is said."""
    _installed(router)
    grubenv.change(router.paths.environment_block, **{"try": ""})
    assert router.boot() == "a"
    trial.decide(router.machine)
    assert _outcome(router)[0] == "returned"


def test_written_now_booted_later(router: Appliance) -> None:
    router.upload(file_system())
    _install(router, INSTALL.model_copy(update={"reboot": False}))
    assert router.reboots == 0
    assert _good(router) == {"good": "a", "try": ""}
    now = progress.read(router.paths.progress)
    assert now is not None
    assert now.state == "ready"
    _install(router, SWITCH)
    assert router.reboots == 1
    assert _good(router)["try"] == "b"


def test_and_back_again(router: Appliance) -> None:
    """The old version is still in its slot: the same trial leads back to it."""
    _installed(router)
    router.boot()
    router.runs(version="2.0.0")
    trial.decide(router.machine, Clock().patience())
    _install(router, SWITCH.model_copy(update={"allow_downgrade": True}))
    assert router.boot() == "a"
    router.runs(version="1.0.0")
    assert trial.decide(router.machine, Clock().patience())
    assert _good(router) == {"good": "a", "try": ""}


def _mounted(router: Appliance) -> None:
    (router.paths.root / "proc/mounts").write_text(f"{router.paths.partition('b')} /mnt ext4 rw 0 0\n")


def _small_slot(router: Appliance) -> None:
    router.paths.partition("b").write_bytes(b"b" * 4096)


def _on_trial(router: Appliance) -> None:
    router.start("b", tried=True)


def _no_key(router: Appliance) -> None:
    router.paths.public_key.unlink()


def _no_slot(router: Appliance) -> None:
    router.paths.partition("b").unlink()


@pytest.mark.parametrize(
    "change,said",
    [
        (_mounted, "it is mounted at /mnt"),
        (_small_slot, "slot b only 4096"),
        (_on_trial, "on trial itself"),
        (_no_key, "no key for upgrades"),
        (_no_slot, "cannot be read"),
        (lambda router: router.runs(dataplane="linux"), "for the vpp data plane, this router has linux"),
        (lambda router: router.paths.upload.unlink(), "not an upgrade file"),
        (lambda router: router.paths.command_line.write_text("quiet"), "two slots"),
    ],
)
def test_refused_before_anything_is_touched(
    router: Appliance, change: Callable[[Appliance], None], said: str
) -> None:
    router.upload(file_system())
    change(router)
    before = {path: path.read_bytes() for path in router.paths.root.rglob("mr-root-*")}
    with pytest.raises(UpgradeRefused, match=said):
        _install(router)
    assert {path: path.read_bytes() for path in before} == before
    assert _good(router) == {"good": "a", "try": ""}
    assert router.reboots == 0


def test_an_older_schema_is_refused(router: Appliance) -> None:
    router.upload(file_system())
    newer = INSTALL.model_copy(update={"document_schema": 2})
    with pytest.raises(UpgradeRefused, match="up to schema 1, this router's has schema 2"):
        _install(router, newer)
    assert router.slot("b") == b"b" * SLOT_BYTES


def test_a_downgrade_has_to_be_meant(router: Appliance) -> None:
    """An old version is signed as well as a new one, and reopens everything that was fixed since."""
    router.upload(file_system())
    router.runs(version="2.1.0")
    with pytest.raises(UpgradeRefused, match=r"version 2\.0\.0 is older than 2\.1\.0, which runs"):
        _install(router)
    assert router.slot("b") == b"b" * SLOT_BYTES
    _install(router, INSTALL.model_copy(update={"allow_downgrade": True}))
    assert router.slot("b") != b"b" * SLOT_BYTES


@pytest.mark.parametrize(
    "older,newer",
    [
        ("1.0.0", "2.0.0"),
        ("1.9.0", "1.10.0"),
        ("1.2", "1.2.1"),
        ("1.2.0-rc1", "1.2.0"),
        ("1.2.0~rc1", "1.2.0~rc2"),
        ("1.2.0", "1.2.0-3-gabcdef0"),
        ("1.2.0-3-gabcdef0", "1.2.0-12-g0123456"),
        ("0.1.0+2", "0.1.0+10"),
    ],
)
def test_which_version_is_older(older: str, newer: str) -> None:
    assert versions.is_older(older, None, newer, None)
    assert not versions.is_older(newer, None, older, None)
    assert versions.is_older(older, 1, older, 2), "an older rebuild"
    assert not versions.is_older(older, 2, older, 2)


def test_versions_that_look_alike_are_told_apart_by_their_time() -> None:
    assert versions.is_older("1.0.0+lab", 1, "1.0+test", 2)
    assert not versions.is_older("1.0.0+lab", 2, "1.0+test", 1)
    assert not versions.is_older("1.0.0+lab", None, "1.0+test", 1)


def test_a_damaged_upload_touches_nothing(router: Appliance) -> None:
    router.upload(file_system())
    raw = bytearray(router.paths.upload.read_bytes())
    raw[len(raw) // 2] ^= 1
    router.paths.upload.write_bytes(raw)
    with pytest.raises(UpgradeRefused, match="damaged"):
        _install(router)
    assert router.slot("b") == b"b" * SLOT_BYTES


def test_a_disk_that_does_not_keep_what_is_written(
    router: Appliance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slot is made unbootable, and nothing says it holds a system."""
    real = image_writer._write_all
    monkeypatch.setattr(
        image_writer,
        "_write_all",
        lambda descriptor, data, offset: real(descriptor, bytes(len(data)), offset),
    )
    router.upload(file_system())
    with pytest.raises(UpgradeRefused, match="the disk may be failing"):
        _install(router)
    assert router.slot("b")[: 1 << 20] == bytes(1 << 20)
    assert not slots.read(router.paths).contents["b"].whole
    with pytest.raises(UpgradeRefused, match="holds no complete system"):
        _install(router, SWITCH)
    assert _good(router) == {"good": "a", "try": ""}


def _power_cut(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_crash_while_writing_leaves_no_system(router: Appliance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even the spoiling ran: what is recorded says that the slot is not whole."""

    monkeypatch.setattr(image_writer, "check", _power_cut)
    monkeypatch.setattr(image_writer, "spoil", _power_cut)
    router.upload(file_system())
    with pytest.raises(KeyboardInterrupt):
        _install(router)
    with pytest.raises(UpgradeRefused, match="holds no complete system"):
        _install(router, SWITCH)


def _booted_by_hand(router: Appliance) -> None:
    """Slot b was kept; somebody takes a in GRUB's menu."""
    _installed(router)
    router.boot()
    assert trial.decide(router.machine, Clock().patience())
    assert _good(router)["good"] == "b"
    router.start("a")
    assert trial.decide(router.machine)


def test_what_was_only_written_is_not_trusted(router: Appliance) -> None:
    """Nor is what was in that slot before: the next boot is of the slot that runs."""
    _booted_by_hand(router)
    router.upload(file_system(2), version="3.0.0")
    _install(router, INSTALL.model_copy(update={"reboot": False}))
    assert _good(router) == {"good": "a", "try": ""}
    assert router.boot() == "a"


def test_a_crash_while_the_trusted_slot_is_overwritten(
    router: Appliance, monkeypatch: pytest.MonkeyPatch
) -> None:
    _booted_by_hand(router)
    router.upload(file_system(2), version="3.0.0")
    monkeypatch.setattr(image_writer, "check", _power_cut)
    monkeypatch.setattr(image_writer, "spoil", _power_cut)
    with pytest.raises(KeyboardInterrupt):
        _install(router)
    assert router.boot() == "a"


def test_a_kept_slot_stays_also_when_that_cannot_be_recorded(
    router: Appliance, monkeypatch: pytest.MonkeyPatch
) -> None:
    _installed(router)
    router.boot()
    assert not router.paths.decided.exists()
    write = attempt.write

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(attempt, "write", full)
    assert trial.decide(router.machine, Clock().patience())
    assert _good(router) == {"good": "b", "try": ""}
    assert router.paths.decided.exists()
    monkeypatch.setattr(attempt, "write", write)
    assert router.boot() == "b"
    assert trial.decide(router.machine)
    assert _outcome(router) == ("kept", "")


def test_an_agent_that_does_not_answer_is_not_upgraded_from(router: Appliance) -> None:
    """It is unknown what has to work again."""
    router.seen = [AgentUnavailable("no socket")]
    router.upload(file_system())
    with pytest.raises(AgentUnavailable):
        _install(router)
    assert _good(router) == {"good": "a", "try": ""}
    assert router.reboots == 0


def test_progress_only_rises(router: Appliance) -> None:
    told: list[progress.Progress] = []

    class Recorder(Reporter):
        def say(self, progress: progress.Progress) -> None:
            told.append(progress)
            super().say(progress)

    router.upload(file_system())
    perform(router.machine, INSTALL, Recorder(router.paths.progress))
    percents = [one.percent for one in told]
    assert percents == sorted(percents)
    assert told[0].state == "checking"
    assert told[-1].state == "rebooting"
    assert {"checking", "writing", "verifying", "rebooting"} == {one.state for one in told}


def test_zeros_stay_unallocated_on_a_thin_disk(tmp_path: Path) -> None:
    device = tmp_path / "slot"
    with device.open("wb") as stream:
        stream.truncate(16 << 20)
    content = b"x" * (1 << 20) + bytes(8 << 20) + b"y" * 4096
    image_writer.write(device, [content], len(content), lambda done: None)
    assert device.read_bytes() == content + bytes((16 << 20) - len(content))
    assert device.stat().st_blocks * 512 < 3 << 20


def test_old_content_gives_way_to_zeros(tmp_path: Path) -> None:
    device = tmp_path / "slot"
    device.write_bytes(b"o" * (4 << 20))
    content = b"x" * 4096 + bytes(3 << 20)
    image_writer.write(device, [content], len(content), lambda done: None)
    assert device.read_bytes()[: len(content)] == content


@pytest.mark.parametrize("size", [10, 30])
def test_content_of_another_length(tmp_path: Path, size: int) -> None:
    (tmp_path / "slot").write_bytes(bytes(100))
    with pytest.raises(UpgradeRefused, match="image"):
        image_writer.write(tmp_path / "slot", [b"x" * 20], size, lambda done: None)


def test_a_commit_that_awaits_confirmation_is_not_taken_into_a_trial(router: Appliance) -> None:
    """Its rollback would be a commit of the new version; the old one may not be able to read that."""
    router.upload(file_system())
    router.seen = [replace(WELL, awaits_confirmation=True)]
    with pytest.raises(UpgradeRefused, match="awaits confirmation"):
        _install(router)
    assert router.reboots == 0
    assert _good(router) == {"good": "a", "try": ""}
    router.seen = [WELL]
    _install(router, SWITCH)
    assert _good(router)["try"] == "b"


def test_a_reboot_that_fails_leaves_nothing_armed(router: Appliance) -> None:
    def fail() -> None:
        raise AgentUnavailable("systemd does not reboot")

    trial.decide(router.machine)
    router.upload(file_system())
    machine = replace(router.machine, reboot=fail)
    with pytest.raises(AgentUnavailable):
        perform(machine, INSTALL, Reporter(router.paths.progress))
    assert _good(router) == {"good": "a", "try": ""}
    assert _outcome(router) == ("returned", "it was not booted: systemd does not reboot")


def test_a_slot_is_left_also_when_grub_could_not_forget_it(router: Appliance) -> None:
    _installed(router)
    router.start("b", tried=True)  # and `try` is still b
    router.seen = [ILL]
    assert not trial.decide(router.machine, Clock().patience())
    assert router.boot() == "a"


def test_what_did_not_work_before_need_not_work_now(router: Appliance) -> None:
    """An upgrade may repair it, and returning from the upgrade repairs nothing."""
    router.seen = [replace(WELL, down={"frr": "ospfd is gone"}, drift=("route 1",))]
    _installed(router)
    router.boot()
    assert trial.decide(router.machine, Clock().patience())
    assert _outcome(router)[0] == "kept"


@pytest.mark.parametrize(
    "disks",
    [
        {"mr-root-a": "sda", "mr-root-b": "sdb"},
        {"mr-root-a": "sda", "mr-root-b": "sda", "mr-esp": "sdb"},
    ],
)
def test_nothing_of_another_disk_is_written(router: Appliance, disks: dict[str, str]) -> None:
    """An old disk of this router, attached to save something from it, has the same partition names."""
    for name, disk in disks.items():
        partition = router.paths.root / "sys/devices" / disk / name
        partition.mkdir(parents=True)
        link = router.paths.root / "sys/class/block" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(partition)
    with (router.paths.root / "proc/mounts").open("a") as mounts:
        mounts.write("systemd-1 /efi autofs rw 0 0\n/dev/mr-esp /efi vfat rw 0 0\n")
    router.upload(file_system())
    with pytest.raises(UpgradeRefused, match="second disk"):
        _install(router)
    assert router.slot("b") == b"b" * SLOT_BYTES
