"""Two routers from one image share no secret, and a router without a seed lets its owner in."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from tests.image.boots import Boots
from tests.image.machine import Hardware
from tests.image.patience import BOOT_S
from tests.image.router import Credentials, Router
from tests.live_lab import json_of

SECRETS = ("/data/millrace", "/var/lib/millrace")


@dataclass(frozen=True)
class Instance:
    """What is its own of one router."""

    password: str
    machine_id: str
    certificate: str
    host_keys: frozenset[str]
    digests: dict[str, str]


def _without_seed(boots: Boots, name: str, number: int) -> Router:
    hardware = Hardware(disk=boots.overlay(name), nics=(boots.management(number),))
    machine = boots.machine(name, hardware)
    shown = machine.serial.wait_for(r"[Pp]assword:?\s+(\S{12,})", timeout_s=BOOT_S)
    router = Router(machine, Credentials("admin", shown[1]))
    router.wait_until_up(f"{name}: without a seed, password on the console to REST")
    return router


@pytest.fixture(scope="module")
def routers(boots: Boots) -> tuple[Router, Router]:
    """Two first boots of one image, with nothing told."""
    return _without_seed(boots, "first", 11), _without_seed(boots, "second", 12)


@pytest.mark.timeout(1800)
def test_the_password_on_the_console_opens_the_page(routers: tuple[Router, Router]) -> None:
    for router in routers:
        me = json_of(router.api.get("/me"))
        assert me["user"]["username"] == "admin"
    first, second = routers
    with pytest.raises(AssertionError, match="refused"):
        second.log_in(first.credentials.password)


def test_the_console_says_where_the_page_is(routers: tuple[Router, Router]) -> None:
    for router in routers:
        router.machine.serial.wait_for(r"https://10\.0\.2\.15", timeout_s=60)


def test_two_instances_share_no_secret(routers: tuple[Router, Router]) -> None:
    first, second = (_instance(router) for router in routers)
    assert first.password != second.password
    assert first.machine_id != second.machine_id
    assert first.certificate != second.certificate
    assert first.host_keys and not first.host_keys & second.host_keys
    same = {
        path
        for path, digest in first.digests.items()
        if digest in second.digests.values() and not _may_be_equal(path)
    }
    assert same == set()
    kinds = "\n".join(first.digests)
    for secret in ("ssh", "tls", "agent", "web"):
        assert secret in kinds, f"no file of {secret} among what was compared:\n{kinds}"


def _may_be_equal(path: str) -> bool:
    """What is no secret and of no instance: the state of a router that was told nothing."""
    return not re.search(r"key|secret|pass|tls|ssh|machine-id|\.pem|token", path)


def _instance(router: Router) -> Instance:
    listed = router.root("find", *SECRETS, "-type", "f", "-size", "+0", "-exec", "sha256sum", "{}", "+")
    digests = {path: digest for digest, path in (line.split(maxsplit=1) for line in listed.splitlines())}
    scanned = router.shell("ssh-keyscan", "127.0.0.1")
    return Instance(
        password=router.credentials.password,
        machine_id=router.shell("cat", "/etc/machine-id").strip(),
        certificate=router.certificate(),
        host_keys=frozenset(line.split()[2] for line in scanned.splitlines() if not line.startswith("#")),
        digests=digests,
    )
