"""The power fails in the middle of commits, ten times: the router comes back whole, as a revision."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest

from tests.image.fleet import Fleet, Member
from tests.image.guest_commits import variant
from tests.image.guest_python import run_module, send_modules
from tests.image.kinds import VIRTIO
from tests.image.marks import Marks
from tests.image.patience import BOOT_S, limit_s, wait_for, wall_time
from tests.image.router import Router

KIND = VIRTIO
POWER_CUTS = 10
LONGEST_COMMIT_S = 3.0
GUEST_TREE = "/var/tmp/image-tests"


@pytest.fixture(scope="module")
def member(fleet: Fleet) -> Member:
    """A router that forwards."""
    return fleet.member(KIND)


@pytest.fixture(scope="module")
def router(member: Member) -> Router:
    """With the script that will commit."""
    send_modules(member.router, GUEST_TREE, ["tests/image/guest_commits.py", "tests/image/guest_state.py"])
    return member.router


def _state(router: Router) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run_module(router, GUEST_TREE, "tests.image.guest_state"))
    return answer


def _settled(router: Router) -> dict[str, Any]:
    """The state of the router, once it matches its record; waits for ssh and the agent."""

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
def test_after_each_power_cut_it_is_one_of_its_revisions(router: Router, member: Member) -> None:
    hosts, marks = member.hosts, member.marks
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
            # The first packet to a host after a start is the one that asks for its address. Asking the
            # agent before packets pass would cost the guest more than it says.
            hosts.wait_until_forwarding(timeout_s=BOOT_S)
            state = _settled(router)
        made = state["revision"] - before["revision"]
        # Every commit that was reported done is there; of the one in flight either everything or nothing.
        assert made in (done, done + 1), (before["revision"], state["revision"], marks.done())
        assert first + made <= last + 1
        wanted = variant(base, first + made - 1) if made else before["document"]
        assert _is(state["document"], wanted), state["document"]
        assert len(set(state["recorded"])) == len(state["recorded"])
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
