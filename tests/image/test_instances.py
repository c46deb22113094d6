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

SECRETS = (
    "/data/millrace/ssh/ssh_host_ed25519_key",
    "/data/millrace/tls/server.key",
    "/var/lib/millrace/web/secret_key",
    "/var/lib/millrace/agent/secret.key",
)
_TREES = ("/data/millrace", "/var/lib/millrace")


@dataclass(frozen=True)
class Instance:
    """What is its own of one router."""

    password: str
    machine_id: str
    certificate: str
    host_keys: frozenset[str]
    digests: dict[str, str]


PASSWORD_SHOWN = r"admin / ([a-z0-9]{5}(?:-[a-z0-9]{5}){3})\b"


def _without_seed(boots: Boots, name: str, number: int) -> Router:
    # As Proxmox has it by docs/install-proxmox.md; the other tests boot from virtio-blk and pvscsi.
    nics = (boots.management(number),)
    hardware = Hardware(disk=boots.overlay(name), nics=nics, disk_controller="virtio-scsi")
    machine = boots.machine(name, hardware)
    shown = machine.serial.wait_for(PASSWORD_SHOWN, timeout_s=BOOT_S)
    router = Router(machine, Credentials("admin", shown[1]))
    boots.on_end(router.hang_up)
    router.wait_until_up(f"{name}: without a seed, password on the console to REST")
    return router


@pytest.fixture(scope="module")
def first(boots: Boots) -> Instance:
    """A first boot of the image without any settings; switched off again."""
    router = _without_seed(boots, "first", 11)
    known = _instance(router)
    router.hang_up()
    router.machine.kill()
    return known


@pytest.fixture(scope="module")
def second(first: Instance, boots: Boots) -> Router:
    """Another first boot of the same image."""
    return _without_seed(boots, "second", 12)


def test_the_password_on_the_console_opens_the_page_of_this_router_only(
    first: Instance, second: Router
) -> None:
    assert json_of(second.api.get("/me"))["user"]["username"] == "admin"
    with pytest.raises(AssertionError, match="refused"):
        second.log_in(first.password)


def test_the_console_says_where_the_page_is(second: Router) -> None:
    second.machine.serial.wait_for(r"https://10\.0\.2\.15", timeout_s=60)


def test_two_instances_share_no_secret(first: Instance, second: Router) -> None:
    other = _instance(second)
    assert first.password != other.password
    assert first.machine_id != other.machine_id
    assert first.certificate != other.certificate
    assert not first.host_keys & other.host_keys
    assert set(SECRETS) <= first.digests.keys()
    same = {path for path, digest in first.digests.items() if digest in other.digests.values()}
    secret = re.compile(r"key|secret|pass|tls|ssh|token|\.pem|machine-id")
    assert [path for path in sorted(same) if secret.search(path)] == []


def test_a_factory_reset_on_the_console_makes_it_a_new_router(second: Router) -> None:
    """Asked for by keys, as at a desk; nothing of the router before is left."""
    before, console = _instance(second), second.machine.serial
    second.hang_up()
    console.type("3")
    console.wait_for(r"Type RESET to go on", timeout_s=60)
    shown = len(console.text())
    console.type("RESET\n")
    # Until it goes down the screen may show the old one once more.
    another = PASSWORD_SHOWN.replace("(", f"(?!{before.password})(", 1)
    password = console.wait_for(another, timeout_s=BOOT_S, after=shown)[1]
    (second.machine.directory / "known_hosts").unlink()
    renewed = Router(second.machine, Credentials("admin", password))
    renewed.wait_until_up("factory reset on the console to REST")
    after = _instance(renewed)
    renewed.hang_up()
    assert (before.machine_id, before.certificate) != (after.machine_id, after.certificate)
    assert not before.host_keys & after.host_keys
    assert all(before.digests[path] != after.digests[path] for path in SECRETS)


def _instance(router: Router) -> Instance:
    listed = router.root("find", *_TREES, "-type", "f", "-size", "+0", "-exec", "sha256sum", "{}", "+")
    digests = {path: digest for digest, path in (line.split(maxsplit=1) for line in listed.splitlines())}
    # An exchange takes seconds under emulation.
    scanned = router.shell("ssh-keyscan", "-T", "50", "-t", "ed25519,ecdsa", "127.0.0.1", timeout_s=120)
    host_keys = frozenset(line.split()[2] for line in scanned.splitlines() if not line.startswith("#"))
    assert len(host_keys) == 2, scanned
    return Instance(
        password=router.credentials.password,
        machine_id=router.shell("cat", "/etc/machine-id").strip(),
        certificate=router.certificate(),
        host_keys=host_keys,
        digests=digests,
    )
