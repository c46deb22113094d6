"""The appliance's own units and files: confined, and with nothing open without need."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from appliance.platform import bgp_index, firewall
from appliance.platform.boot import NETNS
from appliance.platform.paths import AGENT_FILE, SOCKET_GROUP, STARTUP_FILE
from frr_config import V10_3, required_daemons
from frr_config.protocols.bgp.monitoring import ADDRESS, PORT
from webui.processes.parent import STOP_S

TREE = Path(__file__).resolve().parents[3] / "appliance/system"
UNITS = sorted(
    path
    for folder in ("usr/lib/systemd/system", "etc/systemd/system")
    for path in (TREE / folder).glob("*.service")
    if not path.is_symlink()
)
LOGINS = ("millrace-console@.service", "millrace-shell@.service")
"""Units that are somebody's login: they may become root."""
EXPOSURE = 3.0
"""What ``systemd-analyze security`` may say of a unit at most, on a scale of 10."""
EXCEPTIONS = {
    # Its daemons change users, kill what they started, open raw sockets and set tunables of their namespace.
    "frr.service": 3.6,
    # tcpdump, its child, opens a packet socket and becomes another user: with root's rights it would read
    # what strangers send. And a bench sets the CPU of its packet generator, so that it takes none of VPP's.
    "millrace-agent.service": 3.5,
    # A person's session has the rights of who signs in; agetty and login need root to give them.
    "millrace-shell@.service": 9.6,
}
PACKAGES = {
    "nginx.service": "[Unit]\nDescription=nginx\n[Service]\nType=forking\nExecStart=/usr/sbin/nginx\n",
}
"""Packages' units that a drop-in of ours confines, as far as they say anything that counts."""

PACKET_FILTERS = {
    "IPAddressDeny",
    "IPAddressAllow",
    "IPIngressFilterPath",
    "IPEgressFilterPath",
    "RestrictNetworkInterfaces",
}
"""What systemd does by a filter on a unit's control group: each socket made there keeps it while it lives."""


def name(path: Path) -> str:
    return path.name


def settings(path: Path) -> dict[str, list[str]]:
    """Values by name, in the order given; an empty one takes back what stands before it."""
    found: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found[key] = [*found.get(key, []), value] if value else []
    return found


def exposure(unit: str, root: Path) -> float:
    """The score of a unit in the system tree below ``root``."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze here")
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", f"--root={root}", "--no-pager", unit],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert found is not None, done.stdout[-300:] + done.stderr
    return float(found[1])


@pytest.mark.parametrize("unit", UNITS, ids=name)
def test_units_are_confined(unit: Path) -> None:
    """At 3.0 or below; what cannot be is held to what it has, with the reason in the table."""
    limit = EXCEPTIONS.get(unit.name, EXPOSURE)
    found = exposure(unit.name, TREE)
    assert found <= limit
    assert unit.name not in EXCEPTIONS or found > EXPOSURE, "no exception is needed any more"


@pytest.mark.parametrize("unit", PACKAGES)
def test_units_of_packages_are_confined_by_our_drop_ins(unit: str, tmp_path: Path) -> None:
    folder = tmp_path / "usr/lib/systemd/system"
    folder.mkdir(parents=True)
    (folder / unit).write_text(PACKAGES[unit])
    drop_in = Path("etc/systemd/system") / f"{unit}.d"
    shutil.copytree(TREE / drop_in, tmp_path / drop_in)
    assert exposure(unit, tmp_path) <= EXPOSURE


@pytest.mark.parametrize("unit", UNITS, ids=name)
def test_no_unit_gains_privileges_or_waits_for_ever(unit: Path) -> None:
    found = settings(unit)
    if unit.name not in LOGINS:
        assert found["NoNewPrivileges"] == ["yes"]
        assert found["SystemCallFilter"]
        assert found["SystemCallArchitectures"] == ["native"]
    assert "infinity" not in found.get("TimeoutStartSec", [])


@pytest.mark.parametrize("unit", ["millrace-web", "millrace-web-prepare"])
def test_the_web_half_has_no_capability_and_no_network(unit: str) -> None:
    found = settings(TREE / f"usr/lib/systemd/system/{unit}.service")
    assert found["User"] == ["millrace-web"]
    assert found["CapabilityBoundingSet"] == []
    assert found["PrivateNetwork"] == ["yes"]
    assert found["RestrictAddressFamilies"] == ["AF_UNIX"]
    assert found["ReadWritePaths"] == ["/var/lib/millrace/web"]


@pytest.mark.parametrize(
    "file",
    [
        "usr/lib/systemd/system/millrace-web.service",
        "usr/lib/systemd/system/millrace-bgp-index.service",
        "etc/systemd/system/nginx.service.d/millrace.conf",
        "etc/systemd/system/redis-server.service",
    ],
)
def test_a_service_above_its_memory_is_ended_and_begins_anew(file: str) -> None:
    """MemoryHigh below the ceiling would make it wait instead: it stalled for good, and was never ended."""
    found = settings(TREE / file)
    assert 0 < int(found["MemoryMax"][0].removesuffix("%")) <= 40
    assert "MemoryHigh" not in found
    # Of the web half the kernel ends the process that took most, and its parent forks another.
    policy = "continue" if file.endswith("millrace-web.service") else "kill"
    assert (found["OOMPolicy"], found["MemorySwapMax"]) == ([policy], ["0"])
    assert found["Restart"] == ["always"]


def test_the_web_half_is_ended_by_its_parent_and_may_stand_behind() -> None:
    found = settings(TREE / "usr/lib/systemd/system/millrace-web.service")
    assert found["KillMode"] == ["mixed"]
    assert float(found["TimeoutStopSec"][0]) > STOP_S
    # The last word on it: what the filter before it took away.
    assert found["SystemCallFilter"][-1] == "setpriority"


@pytest.mark.parametrize("unit", ["millrace-web", "millrace-bgp-index"])
def test_when_the_machine_is_short_of_memory_the_web_half_goes_and_never_vpp(unit: str) -> None:
    found = settings(TREE / f"usr/lib/systemd/system/{unit}.service")
    vpp = settings(TREE / "etc/systemd/system/vpp.service")
    assert int(found["OOMScoreAdjust"][0]) >= 500 > int(vpp["OOMScoreAdjust"][0]) == -1000
    assert not vpp.keys() & {"MemoryMax", "MemoryHigh"}


def test_no_filter_is_on_who_speaks_in_the_router_s_namespace() -> None:
    """Who makes a network namespace owns the kernel's own sockets in it: of neighbor discovery, MLD, resets.

    The packet filter of that unit's control group is theirs, too, and outlives the unit's process: where it
    denies all, no IPv6 neighbor comes up on any data interface.
    """
    makers = {"millrace-netns.service"}
    # The agent also makes tunnels, whose sockets it owns.
    speakers = {
        *("frr.service", "millrace-agent.service"),
        *("millrace-feeder.service", "millrace-bgp-index.service"),
    }
    units = {unit.name: settings(unit) for unit in UNITS}
    assert {name for name, unit in units.items() if "--net=" in "".join(unit.get("ExecStart", []))} == makers
    assert {name for name, unit in units.items() if "NetworkNamespacePath" in unit} <= speakers
    for unit in makers | speakers:
        assert not units[unit].keys() & PACKET_FILTERS, unit


WEB_HALF = {
    "millrace-audit-guard.service",
    "millrace-database.service",
    "millrace-web-password.service",
    "millrace-web-prepare.service",
    "millrace-web.service",
    "postgresql.service",
    "redis-server.service",
}


def test_what_forwards_starts_before_the_web_half() -> None:
    """On two CPUs the pages' start would take from the data plane's until packets pass."""
    weights = {unit.name: settings(unit).get("StartupCPUWeight") for unit in UNITS}
    assert {name for name, weight in weights.items() if weight is not None} == WEB_HALF
    assert all(weights[name] == ["10"] for name in WEB_HALF)


def test_the_index_of_bgp_routes_has_no_right_and_comes_last() -> None:
    """It reads what neighbors send."""
    found = settings(TREE / "usr/lib/systemd/system/millrace-bgp-index.service")
    assert found["User"] == ["millrace-index"] and found["CapabilityBoundingSet"] == []
    assert "u millrace-index " in (TREE / "usr/lib/sysusers.d/millrace.conf").read_text()
    assert found["NetworkNamespacePath"] == [f"/run/netns/{NETNS}"]
    assert found["MemoryMax"] == [f"{bgp_index.MEMORY_SHARE:.0%}"]
    assert int(found["CPUWeight"][0]) < 100 and int(found["Nice"][0]) > 0
    (start,) = found["ExecStart"]
    assert f"--socket {bgp_index.SOCKET} " in start and f"--bmp {ADDRESS}:{PORT} " in start
    assert found["RuntimeDirectory"] == [str(bgp_index.SOCKET.parent.relative_to("/run"))]
    assert found["EnvironmentFile"] == [str(bgp_index.MARK)]
    daemons = (TREE / f"etc/frr/{NETNS}/daemons").read_text()
    assert 'bgpd_options="-A 127.0.0.1 -P 0 -M bmp"' in daemons


@pytest.mark.parametrize(("memory_mb", "most_mib"), [(1024, 153), (2048, 307), (65536, 512)])
def test_the_index_takes_no_more_than_the_machine_has(memory_mb: int, most_mib: int, tmp_path: Path) -> None:
    bgp_index.announce(memory_mb, tmp_path / "mark")
    assert (tmp_path / "mark").read_text() == f"MOST_MIB={most_mib}\n"


@pytest.mark.parametrize("unit", ["postgresql", "redis-server"])
def test_database_and_queue_have_no_network(unit: str) -> None:
    found = settings(TREE / f"etc/systemd/system/{unit}.service")
    assert found["PrivateNetwork"] == ["yes"]
    assert found["RestrictAddressFamilies"] == ["AF_UNIX"]


def test_forwarding_waits_for_nothing_of_the_web_half() -> None:
    web = ("web", "postgres", "redis", "nginx", "worker", "beat", "database")
    for path in ("etc/systemd/system/vpp.service", "usr/lib/systemd/system/millrace-dataplane.service"):
        found = settings(TREE / path)
        named = " ".join(value for key in ("After", "Requires", "Wants") for value in found.get(key, []))
        assert not [word for word in web if word in named]
    agent = settings(TREE / "usr/lib/systemd/system/millrace-agent.service")
    named = " ".join(value for key in ("After", "Requires", "Wants") for value in agent.get(key, []))
    assert not [word for word in web if word in named]


def test_units_and_code_name_the_same_places() -> None:
    agent = (TREE / "usr/lib/systemd/system/millrace-agent.service").read_text()
    assert f"--config {AGENT_FILE}" in agent
    assert f"SupplementaryGroups={SOCKET_GROUP}" in agent
    assert f"-c {STARTUP_FILE}" in (TREE / "etc/systemd/system/vpp.service").read_text()
    assert f"/run/netns/{NETNS}" in (TREE / "usr/lib/systemd/system/millrace-netns.service").read_text()
    frr = (TREE / "etc/systemd/system/frr.service").read_text()
    assert f"NetworkNamespacePath=/run/netns/{NETNS}" in frr
    assert f"frrinit.sh start {NETNS}" in frr
    assert (TREE / f"etc/frr/{NETNS}/daemons").exists()


def test_every_program_of_ours_that_a_unit_starts_exists() -> None:
    source = TREE.parents[1]
    for unit in UNITS:
        for module in re.findall(r"python -m (appliance\S*|webui)", unit.read_text()):
            path = source / "appliance/src" / module.replace(".", "/")
            if module == "webui":
                path = source / "webui/src/webui"
            assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), (unit.name, module)


def test_what_is_not_named_does_not_run() -> None:
    presets = list((TREE / "usr/lib/systemd/system-preset").iterdir())
    assert [path.name for path in presets] == ["00-millrace.preset"]
    lines = presets[0].read_text().split("\n")
    assert lines[-2:] == ["disable *", ""]


def test_every_daemon_of_frr_that_is_needed_is_started() -> None:
    lines = (TREE / f"etc/frr/{NETNS}/daemons").read_text().splitlines()
    started = {line.removesuffix("=yes") for line in lines if line.endswith("=yes")} - {"vtysh_enable"}
    needed = set(required_daemons(V10_3))
    assert started == needed - {"mgmtd", "zebra", "staticd"}  # FRR's script always starts these
    options = {line.partition("_options=")[0] for line in lines if "_options=" in line} - {"frr_global"}
    assert options == needed


def test_no_daemon_of_frr_listens_for_terminals() -> None:
    daemons = (TREE / f"etc/frr/{NETNS}/daemons").read_text()
    for line in daemons.splitlines():
        if line.partition("=")[0].endswith("_options") and not line.startswith("frr_global"):
            assert "-P 0" in line, line


def test_only_ssh_and_https_are_open_and_only_on_management() -> None:
    rules = (TREE / "etc/nftables.conf").read_text()
    assert "policy drop" in rules.split("chain forward")[1]
    inbound = rules.split("chain input")[1].split("chain forward")[0]
    assert "policy drop" in inbound
    before, after = inbound.split("iifname != @management drop")
    assert "dport" not in before
    ports = re.findall(r"dport (\{[^}]*\}|\d+)[^\n]*accept", after)
    assert ports == ["68", "546", "{ 22, 443 }"]


@pytest.mark.parametrize("ruleset", ["etc/nftables.conf", "management", "isolation", "nothing"])
def test_nft_takes_the_rules(ruleset: str, tmp_path: Path) -> None:
    if shutil.which("nft") is None or shutil.which("unshare") is None:
        pytest.skip("there is no nft here")
    base = (TREE / "etc/nftables.conf").read_text()
    text = {
        "etc/nftables.conf": base,
        "management": base + firewall.management_ruleset(["ens3"]),
        "isolation": firewall.isolation_ruleset(["lo"]),
        "nothing": base + firewall.management_ruleset([]) + firewall.isolation_ruleset([]),
    }[ruleset]
    path = tmp_path / "rules.nft"
    path.write_text(text)
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--net", "--", "nft", "-c", "-f", str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    if "Operation not permitted" in done.stderr:
        pytest.skip("no network namespace can be made here")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("device", ["", "a b", 'x"; drop', "sixteen-letters!", "a" * 16, "eth0}"])
def test_a_device_name_cannot_say_anything_else_to_nft(device: str) -> None:
    for render in (firewall.management_ruleset, firewall.isolation_ruleset):
        with pytest.raises(firewall.BadDeviceName, match="not the name"):
            render([device])
