"""Upgrades into the other slot: a good one stays, with the configuration; a bad one ends in the old slot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.image import upgrade_files
from tests.image.artefacts import Artefacts
from tests.image.fleet import Fleet, Member
from tests.image.kinds import UPGRADED
from tests.image.patience import limit_s, wait_for, wall_time
from tests.image.router import Router
from tests.image.two_hosts import TwoHosts
from tests.live_lab import json_of

KIND = UPGRADED
PART_BYTES = 8 << 20
PATIENT_S = 900
"""For an upgrade that is to be kept: the web half takes minutes to come up under emulation."""
IMPATIENT_S = 150
"""For one that will not be."""
DECIDED_S = 2400.0
REQUEST_S = 300


@pytest.fixture(scope="module")
def upgrade(built: Artefacts) -> Path:
    """The build's upgrade file."""
    if built.upgrade is None:
        pytest.skip(f"no upgrade file beside {built.disk.name}")
    return built.upgrade


@pytest.fixture(scope="module")
def whole(upgrade: Path, directory: Path) -> Path:
    """The file system in it."""
    return upgrade_files.unpacked_root(upgrade, directory / "whole.ext4")


@pytest.fixture(scope="module")
def small(whole: Path, directory: Path) -> Path:
    """What of it is needed to fail."""
    return upgrade_files.small_root(whole, directory / "small.ext4")


@pytest.fixture(scope="module")
def member(fleet: Fleet) -> Member:
    """A router that forwards."""
    return fleet.member(KIND)


@pytest.fixture(scope="module")
def hosts(member: Member) -> TwoHosts:
    """The two hosts."""
    return member.hosts


@pytest.fixture(scope="module")
def router(member: Member) -> Router:
    """The router, in its first slot."""
    return member.router


def _send(router: Router, part: bytes, offset: int, size: int) -> httpx.Response:
    return router.api.put(
        "/upgrade/file",
        params={"offset": offset, "size": size},
        content=part,
        headers={"Content-Type": "application/octet-stream"},
        timeout=limit_s(REQUEST_S),
    )


def _upload(router: Router, file: Path) -> None:
    size = file.stat().st_size
    with wall_time(f"upload of {size / 1e6:.0f} MB"), file.open("rb") as stream:
        offset = 0
        while part := stream.read(PART_BYTES):
            answer = _send(router, part, offset, size)
            assert answer.is_success, answer.text
            offset += len(part)


def _install(router: Router, deadline_s: int = PATIENT_S) -> Any:
    return router.api.post("/upgrade/install", json={"deadline_s": deadline_s}, timeout=limit_s(REQUEST_S))


def _show(router: Router) -> Any:
    return json_of(router.api.get("/upgrade"))


def _refusal(router: Router) -> str:
    """Why the install was refused: at once, or in its progress."""
    answer = _install(router)
    if not answer.is_success:
        return str(answer.text)
    failed = wait_for(
        lambda: (shown := _show(router)["progress"]) is not None and shown["state"] == "failed" and shown,
        timeout_s=900,
        what="the refusal of a bad upgrade",
        pause_s=2,
    )
    return str(failed["detail"])


def _started(router: Router) -> str | None:
    """When the last attempt began, by which it is told from the next."""
    last = _show(router)["attempt"]
    return None if last is None else str(last["started_at"])


def _decided(router: Router, after: str | None, what: str) -> Any:
    """The result of the attempt after the one started at `after`, once the router has decided."""

    def look() -> Any:
        router.machine.check_alive()
        try:
            router.forget_api()
            last = _show(router)["attempt"]
        except (AssertionError, OSError, httpx.HTTPError):
            return None  # it reboots
        if last is None or last["started_at"] == after:
            return None  # still being written
        return last if last["outcome"] != "pending" else None

    with wall_time(what):
        attempt = wait_for(look, timeout_s=DECIDED_S, what="the end of the trial", pause_s=10)
    router.hang_up()
    return attempt


def _slots(router: Router) -> tuple[str, str]:
    """Slot that runs, by the kernel's word, and slot that is trusted."""
    words = dict(
        word.split("=", 1) for word in router.shell("cat", "/proc/cmdline").split() if word.count("=") == 1
    )
    block = router.root("grub-editenv", "/efi/grub/grubenv", "list", check=False)
    block = block or router.root("cat", "/efi/grub/grubenv")
    good = next(line.split("=")[1] for line in block.splitlines() if line.startswith("good="))
    return words["millrace.slot"], good


def test_a_damaged_file_is_refused(router: Router, small: Path, directory: Path) -> None:
    _upload(router, upgrade_files.with_flipped_byte(small, directory / "flipped"))
    assert "digest" in _refusal(router)
    assert _slots(router) == ("a", "a")


def test_a_file_of_another_signer_is_refused(router: Router, small: Path, directory: Path) -> None:
    other = upgrade_files.signed_by_another(small, directory / "other", "9.9.9")
    first = other.read_bytes()[:PART_BYTES]
    answer = _send(router, first, 0, other.stat().st_size)
    assert answer.status_code == 409, answer.text
    assert "sign" in answer.text.lower()
    assert _slots(router) == ("a", "a")


def test_a_good_upgrade_stays_and_keeps_the_configuration(
    router: Router, hosts: TwoHosts, upgrade: Path
) -> None:
    before = json_of(router.api.get("/status"))
    _upload(router, upgrade)
    earlier = _started(router)
    answer = _install(router)
    assert answer.is_success, answer.text
    attempt = _decided(router, earlier, "upgrade: install to decision")
    assert attempt["outcome"] == "kept", attempt
    assert _slots(router) == ("b", "b")
    hosts.wait_until_forwarding()
    after = json_of(router.api.get("/status"))
    assert (after["revision"], after["digest"]) == (before["revision"], before["digest"])


@pytest.mark.parametrize(
    ("name", "size", "commands"),
    [
        ("bad-kernel", "small", ("rm /boot/vmlinuz", "symlink /boot/vmlinuz /usr/lib/os-release")),
        ("no-init", "small", ("rm /usr/lib/systemd/systemd",)),
        ("hangs", "small", ("rm /usr/lib/systemd/systemd", "symlink /usr/lib/systemd/systemd /usr/bin/cat")),
        ("no-agent", "whole", ("rm /usr/lib/systemd/system/millrace-agent.service",)),
    ],
)
def test_a_broken_upgrade_comes_back_to_the_old_slot(
    name: str,
    size: str,
    commands: tuple[str, ...],
    router: Router,
    hosts: TwoHosts,
    directory: Path,
    request: pytest.FixtureRequest,
) -> None:
    slot, good = _slots(router)
    assert slot == good
    before = json_of(router.api.get("/status"))
    version = f"9.{len(name)}.{len(commands)}"
    root: Path = request.getfixturevalue(size)
    _upload(router, upgrade_files.with_commands(root, directory / name, version, commands))
    earlier, console = _started(router), router.machine.serial
    shown = len(console.text())
    answer = _install(router, IMPATIENT_S)
    assert answer.is_success, answer.text
    attempt = _decided(router, earlier, f"upgrade {name}: install to being back")
    assert (attempt["outcome"], attempt["version"]) == ("returned", version), attempt
    assert attempt["reason"]
    # It came back by the way that is meant: debugfs says nothing of a command that failed.
    said = console.text()[shown:]
    assert ("error: premature end of file" in said) is (name == "bad-kernel"), said[-4000:]
    assert ("this slot has no /sbin/init" in said) is (name == "no-init"), said[-4000:]
    assert "Kernel panic" not in said, said[-4000:]
    assert _slots(router) == (slot, slot)
    hosts.wait_until_forwarding()
    after = json_of(router.api.get("/status"))
    assert (after["revision"], after["digest"]) == (before["revision"], before["digest"])
