"""On the booted image: strangers of one /64 fill the web half; who is signed in commits and confirms.

The strangers are eight IPv6 addresses on the management network, the administrator has an IPv4 address there.
Judged by what is answered: an emulated machine has no times that count.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lab import namespaces
from tests.image.fleet import MANAGEMENT_V6, Fleet, Member
from tests.image.kinds import VIRTIO
from tests.image.patience import limit_s, wall_time
from tests.live_lab import REPOSITORY, json_of

SECONDS = 60.0
SOURCES = [f"2001:db8:99::bad:{number:x}" for number in range(1, 9)]


@pytest.fixture(scope="module")
def member(fleet: Fleet) -> Member:
    """A router with static management addresses."""
    return fleet.member(VIRTIO)


def test_a_full_64_of_strangers_leaves_room_for_who_is_signed_in(member: Member, tmp_path: Path) -> None:
    desk, router = member.desk.namespace, member.router
    (tmp_path / "ca.pem").write_text(router.certificate())
    for source in SOURCES:
        namespaces.run_in(desk, ["ip", "address", "replace", f"{source}/64", "dev", "port0", "nodad"])
    argv = ["ip", "netns", "exec", desk, sys.executable, "-m", "tests.soak.strangers", str(tmp_path)]
    argv += [str(limit_s(SECONDS)), MANAGEMENT_V6, *SOURCES]
    strangers = subprocess.Popen(argv, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    confirmed = 0
    try:
        while strangers.poll() is None:
            with wall_time("beside strangers: a commit and its confirmation"):
                path = "/config/system/hostname?confirm_s=600"
                json_of(router.api.put(path, json=f"held{confirmed}"))
                answer = router.api.post("/confirm")
                assert answer.status_code == 204, answer.text
            confirmed += 1
        came, _ = strangers.communicate()
    finally:
        strangers.kill()
        strangers.wait()
    counted = json.loads(came)
    print(f"\n{confirmed} confirmations; strangers: {counted}")
    assert confirmed and counted["bodies ended by the server"]
    assert member.hosts.ping("10.77.2.2", source=member.hosts.left)
    router.put(member.document)
