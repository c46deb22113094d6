"""The power fails in the middle of commits, ten times: the router comes back whole, as a revision."""

from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.image.boots import Boots
from tests.image.guest_commits import variant
from tests.image.guest_python import run_module, send_modules
from tests.image.patience import BOOT_S, limit_s, wait_for, wall_time
from tests.image.router import Router
from tests.image.two_hosts import TwoHosts

POWER_CUTS = 10
LONGEST_COMMIT_S = 3.0
GUEST_TREE = "/var/tmp/image-tests"


class Marks:
    """What the guest wrote on its second serial port, which is a file of ours and outlives it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def arguments(self) -> tuple[str, ...]:
        """QEMU's arguments for the port."""
        chardev = f"file,id=marks,path={self.path},append=on"
        return ("-chardev", chardev, "-serial", "chardev:marks")

    def begun(self) -> int:
        """Number of the last commit that was asked for; -1 before the first."""
        return max((int(found[1]) for found in re.finditer(r"begin (\d+)\r?\n", self._text())), default=-1)

    def done(self) -> dict[int, int]:
        """Commits that were called done, with their revisions."""
        return {int(found[1]): int(found[2]) for found in re.finditer(r"done (\d+) (\d+)\r?\n", self._text())}

    def _text(self) -> str:
        return self.path.read_text(errors="replace") if self.path.exists() else ""


@pytest.fixture(scope="module")
def marks(directory: Path) -> Marks:
    """The second serial port."""
    return Marks(directory / "marks.log")


@pytest.fixture(scope="module")
def hosts() -> TwoHosts:
    """The two hosts."""
    return TwoHosts(3)


@pytest.fixture(scope="module")
def router(boots: Boots, hosts: TwoHosts, marks: Marks) -> Router:
    """A router that forwards, with the script that will commit."""
    booted = boots.between(hosts, "power-cut", "virtio-net-pci", extra=marks.arguments)
    booted.patch({"interfaces": hosts.interfaces()})
    hosts.wait_until_forwarding()
    send_modules(booted, GUEST_TREE, ["tests/image/guest_commits.py", "tests/image/guest_state.py"])
    return booted


def _state(router: Router) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run_module(router, GUEST_TREE, "tests.image.guest_state"))
    return answer


def _settled(router: Router) -> dict[str, Any]:
    """What the router is, once it has become what it has recorded; waits for ssh and the agent."""

    def look() -> dict[str, Any] | None:
        router.machine.check_alive()
        try:
            state = _state(router)
        except AssertionError:
            return None  # ssh or the agent is not up yet
        return state if not state["steps"] and not state["drift"] else None

    return wait_for(look, timeout_s=BOOT_S, what="an agent whose router is what it recorded", pause_s=2)


def _commit_endlessly(router: Router, base: dict[str, Any], first: int) -> None:
    file = f"{GUEST_TREE}/base.json"
    router.root("tee", file, stdin=json.dumps(base).encode())
    run_module(router, GUEST_TREE, "tests.image.guest_commits", file, str(first), unit="image-tests-commits")


@pytest.mark.timeout(limit_s(POWER_CUTS * BOOT_S))
def test_after_each_power_cut_it_is_one_of_its_revisions(
    router: Router, hosts: TwoHosts, marks: Marks
) -> None:
    chance = random.Random(20)
    state = _settled(router)
    base = state["document"]
    in_flight = 0
    for number in range(1, POWER_CUTS + 1):
        before, first = state, marks.begun() + 1
        _commit_endlessly(router, base, first)
        _wait_until_begun(marks, first)
        time.sleep(chance.uniform(0.05, LONGEST_COMMIT_S))
        router.machine.kill()
        router.hang_up()
        last = marks.begun()
        done = sum(1 for commit in marks.done() if commit >= first)
        in_flight += last not in marks.done()
        router.machine.start()
        with wall_time(f"power cut {number} in commit {last}: power on to a settled router"):
            state = _settled(router)
        made = state["revision"] - before["revision"]
        # What was called done is there; of the one in flight either all or nothing.
        assert made in (done, done + 1), (before["revision"], state["revision"], marks.done())
        assert first + made <= last + 1
        wanted = variant(base, first + made - 1) if made else before["document"]
        assert _is(state["document"], wanted), state["document"]
        assert len(set(state["recorded"])) == len(state["recorded"])
        # The first packet to a host after a start is the one that asks for its address.
        hosts.wait_until_forwarding()
        assert hosts.ping("10.77.2.2", count=3)
    assert in_flight >= POWER_CUTS / 2, "too few of the power cuts hit a commit"


def _wait_until_begun(marks: Marks, number: int) -> None:
    wait_for(lambda: marks.begun() >= number, timeout_s=60, what=f"commit {number}", pause_s=0.02)


def _is(document: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return bool(
        document["interfaces"].keys() == wanted["interfaces"].keys()
        and all(
            document["interfaces"][name].get("description") == interface.get("description")
            for name, interface in wanted["interfaces"].items()
        )
        and _static(document) == _static(wanted)
    )


def _static(document: dict[str, Any]) -> set[str]:
    return set(document.get("routing", {}).get("static", {}))


def test_the_web_half_comes_back_too(router: Router) -> None:
    router.wait_until_up("after the last power cut: to REST")
    router.forget_api()
    assert router.config()["interfaces"]
