"""What a program that was taken over can reach, tried inside the sandboxes that systemd makes from the units.

It is systemd's own work, with the units as they are; only the machine is not the appliance. `tests/image`
tries the same on the booted image.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import requirements
from tests.integration.platform.small_system import cgroup_mount, probe
from tests.unit.platform.confinement import Unit, units

pytestmark = [pytest.mark.root]

VPP, FEEDER, INDEX = "vpp.service", "millrace-feeder.service", "millrace-bgp-index.service"
AGENT, WEB, FRR = "millrace-agent.service", "millrace-web.service", "frr.service"
_SECRETS = {
    "/etc/shadow",
    "/etc/ssh/ssh_host_ed25519_key",
    "/data/millrace/secret",
    "/var/lib/millrace/agent/key",
    "/{}/secret".format("root"),
    "/home/{}/secret".format("admin"),
    "/proc/1/environ",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the probe saw in each unit."""
    requirements.require_root_netns()
    if cgroup_mount() is None or not Path("/usr/lib/systemd/systemd").exists():
        pytest.skip("there is no systemd, or no unified hierarchy of control groups, to start units with")
    folder = tmp_path_factory.mktemp("small", numbered=True)
    return probe(folder, [VPP, FEEDER, INDEX, AGENT, WEB, FRR])


def test_vpp_reaches_nothing_of_root_but_its_own(found: dict[str, dict[str, Any]]) -> None:
    vpp = found[VPP]
    assert vpp["uid"] == 0 and vpp["gid"] != 0 and not vpp["becomes_group_0"]
    assert not _SECRETS & set(vpp["read"])
    needed = {"/var/lib/millrace/vpp/startup.conf", "/run/netns/dataplane", "/var/run/netns/dataplane"}
    assert needed <= set(vpp["read"])
    # The kernel's huge pages are its to reserve.
    assert set(vpp["write"]) - {"/sys/kernel/mm/transparent_hugepage/enabled"} == {"/run/vpp", "/tmp"}
    assert vpp["connect"] == ["VPP"]


def test_the_feeder_and_the_index_reach_less(found: dict[str, dict[str, Any]]) -> None:
    for name, own, connects in ((FEEDER, "feeder", ["VPP"]), (INDEX, "bgp-index", [])):
        seen = found[name]
        assert seen["uid"] != 0 and seen["capabilities"] == 0 and not seen["becomes_group_0"]
        assert not _SECRETS & set(seen["read"])
        assert set(seen["write"]) == {f"/run/millrace/{own}", "/tmp"}
        assert seen["connect"] == connects


def test_the_web_half_reaches_the_agent_and_no_secret_of_root(found: dict[str, dict[str, Any]]) -> None:
    web = found[WEB]
    assert not _SECRETS & set(web["read"])
    assert "systemd" not in web["connect"] and "VPP" not in web["connect"] and "agent" in web["connect"]


@pytest.mark.parametrize("name", [VPP, FEEDER, INDEX, AGENT, WEB, FRR])
def test_the_table_says_what_was_seen(name: str, found: dict[str, dict[str, Any]]) -> None:
    """Who it runs as, its rights, and whom it can ask: as docs/security.md has it, from the unit."""
    unit: Unit = units()[name]
    seen = found[name]
    assert (seen["uid"] == 0) == (unit.user == "root")
    assert seen["capabilities"].bit_count() == len(unit.capabilities)
    # The agent's socket is told by group 0 as well, which the probe's listener does not ask.
    assert set(unit.asks) == set(seen["connect"])
