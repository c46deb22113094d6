"""A configured router and a seed that appears later.

QEMU's fw_cfg stands in for VMware's guestinfo, which QEMU does not have: the same program reads
both, and decides alike for seeds of every source.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.image.boots import PASSWORD, Boots
from tests.image.machine import Hardware
from tests.image.router import Credentials, Router

_LATER = {"hostname": "taken", "instance_id": "later", "admin_password": "somebody else's word"}


@pytest.fixture(scope="module")
def router(boots: Boots) -> Router:
    """Up, by a NoCloud disc."""
    nics = (boots.management(41),)
    return boots.router(
        "seeded", Hardware(disk=boots.overlay("seeded"), nics=nics, seed=boots.seed("seeded"))
    )


def _start(router: Router, credentials: Credentials, what: str) -> Router:
    """The same machine, started again."""
    router.hang_up()
    router.machine.kill()
    router.machine.start()
    again = Router(router.machine, credentials)
    again.wait_until_up(what)
    return again


def _report(router: Router) -> Any:
    return json.loads(router.root("cat", "/run/millrace/first-boot.json"))


def _key(router: Router) -> str:
    return router.root("sha256sum", "/data/millrace/ssh/ssh_host_ed25519_key")


def test_only_its_operator_has_it_applied(router: Router, boots: Boots) -> None:
    before, machine = _key(router), router.machine
    router.root("sync")
    words = [("-fw_cfg", f"name=opt/millrace/{name},string={value}") for name, value in _LATER.items()]
    machine.hardware = replace(
        machine.hardware, seed=None, extra=tuple(word for pair in words for word in pair)
    )
    same = _start(router, boots.credentials(), "another seed attached: power on to REST")
    report = _report(same)
    assert (report["source"], report["applied"]) == ("fw_cfg", False), report
    assert "was not applied" in " ".join(report["remarks"])
    assert same.shell("hostname").strip() == "seeded" and _key(same) == before
    same.log_in(PASSWORD)
    same.root("touch", "/data/millrace/seed-again")
    same.root("sync")
    asked = Credentials("admin", _LATER["admin_password"])
    # An id of its own: a copy, which gets keys of its own.
    (machine.directory / "known_hosts").unlink(missing_ok=True)
    taken = _start(same, asked, "a seed asked for again: power on to REST")
    boots.on_end(taken.hang_up)
    assert _report(taken)["applied"]
    assert taken.shell("hostname").strip() == "taken" and _key(taken) != before
    assert taken.root("find", "/data/millrace/seed-again", check=False).strip() == ""
