"""A seed that comes to a router that exists already: from its owner, the hypervisor, or neither."""

from __future__ import annotations

import json
from typing import Any

import pytest

from appliance.firstboot import crypt
from appliance.firstboot.instance import load
from appliance.firstboot.passwords import keep_changed_password, set_password
from appliance.firstboot.reset import seed_again
from tests.unit.firstboot.conftest import Host
from tests.unit.firstboot.test_boot import GOOD, hash_of
from tests.unit.firstboot.test_seed import KEY

SOURCES = (
    "NoCloud (/dev/sr0)",
    "ConfigDrive (/dev/sr0)",
    "OVF environment (/dev/sr0)",
    "OVF environment (guestinfo)",
    "fw_cfg",
    "credential",
)
ATTACK: dict[str, Any] = {
    "instance_id": "two",
    "hostname": "r2",
    "admin_password": "somebody else's",
    "configuration": {},
}


def kept(host: Host) -> dict[str, bytes]:
    """All that survives a boot."""
    return {str(path): path.read_bytes() for path in host.layout.data.rglob("*") if path.is_file()}


def keys(host: Host) -> dict[str, bytes]:
    """This instance's own."""
    return {path.name: path.read_bytes() for path in [*host.layout.ssh.iterdir(), *host.layout.tls.iterdir()]}


@pytest.mark.parametrize("source", SOURCES)
def test_a_configured_router_takes_no_other_seed(host: Host, source: str) -> None:
    """`vmtoolsd --cmd 'info-set guestinfo.ovfEnv …'` needs no right; a disc is soon inserted."""
    host.machine("aaaa")
    host.seed(hostname="r1", admin_ssh_keys=KEY)
    host.boot()
    host.layout.first_document.unlink()
    before = kept(host)
    host.seed(source, **ATTACK)
    for _ in range(2):
        report = host.boot()
        assert not report.applied and kept(host) == before
        assert "was not applied" in report.remarks[0] and source in report.remarks[0]
        assert "PasswordAuthentication no\n" in host.text("etc/ssh/sshd_config.d/10-millrace.conf")


@pytest.mark.parametrize("source", SOURCES)
def test_nor_does_one_that_never_had_a_seed(host: Host, source: str) -> None:
    host.boot()
    before = kept(host)
    host.seed(source, **ATTACK)
    assert not host.boot().applied and kept(host) == before


def test_the_operator_s_own_act_applies_it_once(host: Host) -> None:
    host.seed(hostname="r1", admin_password=GOOD, dns_servers="192.0.2.53")
    host.boot()
    before = keys(host)
    host.seed(instance_id="two", hostname="r2")
    seed_again(host.layout)
    assert host.boot().applied and not host.layout.seed_again.exists()
    assert host.text("etc/hostname") == "r2\n"
    assert "nameserver 192.0.2.53" in host.text("etc/resolv.conf")
    assert crypt.verify(GOOD, hash_of(host)), "a seed without a password keeps the one there is"
    after = keys(host)
    assert all(after[name] != before[name] for name in before), "another id: a copy"
    # The same seed again is no copy.
    host.seed(instance_id="two", hostname="r3")
    seed_again(host.layout)
    assert host.boot().applied and host.text("etc/hostname") == "r3\n" and keys(host) == after
    host.seed(instance_id="three", hostname="r4")
    assert not host.boot().applied
    host.seeds = []
    seed_again(host.layout)
    host.boot()
    assert not host.layout.seed_again.exists(), "it holds for one boot, with a seed or without"


def test_a_copy_made_by_the_hypervisor_takes_its_own_seed_and_gets_keys_of_its_own(host: Host) -> None:
    host.machine("AAAA")
    host.seed(hostname="r1", admin_password=GOOD)
    host.boot()
    before = keys(host)
    host.machine("bbbb")
    host.seed(instance_id="two", hostname="r2")
    assert host.boot().applied and host.text("etc/hostname") == "r2\n"
    after = keys(host)
    assert all(after[name] != before[name] for name in before)
    host.seed(**ATTACK)
    host.machine("bbbb")
    host.seed(instance_id="three", hostname="r3")
    assert not host.boot().applied, "the same machine as at the boot before"


def test_a_copy_whose_seed_came_later_is_no_copy_any_more(host: Host) -> None:
    host.machine("aaaa")
    host.seed(hostname="r1")
    host.boot()
    host.machine("bbbb")
    host.boot()
    host.seed(**ATTACK)
    assert not host.boot().applied


@pytest.mark.parametrize(("first", "then"), [("aaaa", ""), ("", "bbbb")])
def test_a_machine_without_an_id_is_no_copy(host: Host, first: str, then: str) -> None:
    """As before an upgrade from a release that noted none."""
    host.machine(first)
    host.seed(hostname="r1")
    host.boot()
    host.machine(then)
    host.seed(**ATTACK)
    assert not host.boot().applied


def test_an_instance_of_an_older_release_is_closed_too(host: Host) -> None:
    host.seed(hostname="r1")
    host.boot()
    stored = json.loads(host.layout.instance.read_bytes())
    assert stored.pop("awaits_seed", 0) is None and stored.pop("machine", 0) is None
    host.layout.instance.write_text(json.dumps(stored))
    host.machine("aaaa")
    host.seed(**ATTACK)
    assert not host.boot().applied
    assert load(host.layout.instance.read_bytes()).machine == "aaaa"


def _mistaken(host: Host, source: str = "NoCloud (/dev/sr0)") -> None:
    host.seed(source, hostname="r1", dns_servers="not-an-address")
    assert host.boot().problems


def test_a_corrected_seed_is_applied_from_the_same_kind_of_source_only(host: Host) -> None:
    _mistaken(host)
    host.seed("OVF environment (guestinfo)", **ATTACK)
    assert not host.boot().applied
    host.seed("NoCloud (/dev/sr1)", hostname="r1")
    assert host.boot().applied
    host.seed("NoCloud (/dev/sr1)", **ATTACK)
    assert not host.boot().applied


@pytest.mark.parametrize("how", ["console", "passwd", "web page"])
def test_a_router_that_somebody_took_waits_for_no_corrected_seed(host: Host, how: str) -> None:
    _mistaken(host, "OVF environment (guestinfo)")
    if how == "console":
        set_password(host.layout, GOOD)
    elif how == "passwd":
        shadow = host.layout.etc / "shadow"
        shadow.write_text(shadow.read_text().replace(hash_of(host), crypt.hash_password(GOOD)))
        assert keep_changed_password(host.layout)
    else:
        host.layout.web_password_changed.parent.mkdir(parents=True)
        host.layout.web_password_changed.touch()
    host.seed("OVF environment (guestinfo)", **ATTACK)
    assert not host.boot().applied
