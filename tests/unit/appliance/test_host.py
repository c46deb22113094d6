"""The host's files: apply, observe, plan again is empty; undo; and nothing outside the root."""

from __future__ import annotations

import random
import string
from pathlib import Path

import pytest

from appliance.features.system.model import System
from appliance.host import HostBackend
from appliance.host.compile import compile_host
from appliance.host.state import MARK, HostEntry

FULL = System(
    hostname="edge1",
    domain="example.net",
    timezone="Europe/Oslo",
    banner="authorised people only",
    dns_servers=("192.0.2.53", "2001:db8::53"),
    ntp_servers=("192.0.2.123", "ntp.example.org"),
)


def commit(host: HostBackend, system: System) -> list[str]:
    """What was done; the second plan has to be empty."""
    desired = compile_host(system)
    steps = list(host.plan(desired, host.observe()))
    for step in steps:
        host.apply(step)
    assert list(host.plan(desired, host.observe())) == []
    return [step.summary for step in steps]


def test_files_follow_the_document(tmp_path: Path) -> None:
    host = HostBackend(tmp_path)
    commit(host, FULL)
    assert (tmp_path / "etc/hostname").read_text() == "edge1\n"
    assert "127.0.1.1 edge1.example.net edge1\n" in (tmp_path / "etc/hosts").read_text()
    assert (tmp_path / "etc/localtime").readlink() == Path("/usr/share/zoneinfo/Europe/Oslo")
    assert (tmp_path / "etc/resolv.conf").read_text() == (
        f"{MARK}search example.net\nnameserver 192.0.2.53\nnameserver 2001:db8::53\n"
    )
    assert (tmp_path / "etc/chrony/sources.d/millrace.sources").read_text().count("iburst") == 2
    assert "write /etc/hostname" in commit(host, System())
    assert not (tmp_path / "etc/chrony/sources.d/millrace.sources").exists()
    assert not (tmp_path / "etc/resolv.conf").exists()
    assert not [path for path in tmp_path.rglob("*") if "millrace-new" in path.name]


def test_a_domain_alone_leaves_the_resolvers_to_dhcp(tmp_path: Path) -> None:
    host = HostBackend(tmp_path)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/resolv.conf").write_text("nameserver 198.51.100.1\n")
    commit(host, System(hostname="edge1", domain="example.net"))
    assert "127.0.1.1 edge1.example.net edge1\n" in (tmp_path / "etc/hosts").read_text()
    assert (tmp_path / "etc/resolv.conf").read_text() == "nameserver 198.51.100.1\n"


def test_undo_puts_back_what_somebody_else_wrote(tmp_path: Path) -> None:
    host = HostBackend(tmp_path)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/resolv.conf").write_text("nameserver 198.51.100.1\n")
    (tmp_path / "etc/localtime").symlink_to("/usr/share/zoneinfo/Asia/Tokyo")
    commit(host, System())
    assert (tmp_path / "etc/resolv.conf").read_text() == "nameserver 198.51.100.1\n"
    before = host.observe()
    steps = list(host.plan(compile_host(FULL), before))
    for step in steps:
        host.apply(step)
    for step in reversed(steps):
        host.undo(step)
    assert dict(host.observe()) == dict(before)


def test_a_file_that_was_edited_is_drift(tmp_path: Path) -> None:
    host = HostBackend(tmp_path)
    commit(host, FULL)
    (tmp_path / "etc/hosts").write_text("127.0.0.1 localhost\n")
    assert commit(host, FULL) == ["write /etc/hosts"]


@pytest.mark.parametrize("seed", range(20))
def test_no_value_leaves_its_line(seed: int) -> None:
    rng = random.Random(seed)
    letters = string.ascii_letters + string.digits + " ,.:;()/_+=@#*-"
    for _ in range(200):
        banner = "".join(rng.choice(letters) for _ in range(rng.randint(1, 80)))
        system = FULL.model_copy(update={"banner": System(banner=banner).banner})
        for entry in compile_host(system).values():
            assert isinstance(entry, HostEntry)
            expected = {"etc/hosts": 4, "etc/resolv.conf": 4, "etc/chrony/sources.d/millrace.sources": 2}
            if entry.kind == "file":
                assert entry.content.count("\n") == expected.get(entry.path, 1)
