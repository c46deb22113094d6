"""On the booted image: what a program in the sandboxes of VPP, the feeder and the index can reach.

The probe is started by units that have everything of theirs but the program, next to the running ones.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.image.fleet import Fleet
from tests.image.guest_python import PYTHON
from tests.image.kinds import VIRTIO
from tests.image.router import Router
from tests.integration.platform.small_system import probe_unit, unit_file

_PROBE = Path(__file__).resolve().parents[1] / "integration/platform/probe.py"
_ASK = """
from appliance.client import AgentClient
from appliance.errors import MillraceError
try:
    print("revision", AgentClient("/run/millrace/agent.sock").status().revision)
except MillraceError as error:
    print(error)
"""
VPP, FEEDER, INDEX = "vpp.service", "millrace-feeder.service", "millrace-bgp-index.service"
_SECRETS = ("/etc/shadow", "/var/lib/millrace/agent/key", "/proc/1/environ")


@pytest.fixture(scope="module")
def router(fleet: Fleet) -> Router:
    """A router that forwards."""
    router = fleet.member(VIRTIO).router
    router.root("mkdir", "-p", "/run/probe")
    router.root("tee", "/etc/probe.py", stdin=_PROBE.read_bytes())
    router.root("chmod", "644", "/etc/probe.py")
    return router


def _seen(router: Router, name: str) -> dict[str, Any]:
    text = probe_unit(unit_file(name).read_text(), name).replace("/out/", "/run/probe/")
    router.root("tee", f"/run/systemd/system/probe-{name}", stdin=text.encode())
    router.root("systemctl", "daemon-reload")
    router.root("systemctl", "start", f"probe-{name}")
    seen: dict[str, Any] = json.loads(router.root("cat", f"/run/probe/{name}.json"))
    return seen


@pytest.mark.parametrize(
    ("name", "writes", "connects"),
    [
        (VPP, {"/run/vpp", "/tmp"}, ["VPP"]),
        (FEEDER, {"/run/millrace/feeder", "/tmp"}, ["VPP"]),
        (INDEX, {"/run/millrace/bgp-index", "/tmp"}, []),
    ],
)
def test_nothing_of_root_is_reachable_but_what_the_table_says(
    router: Router, name: str, writes: set[str], connects: list[str]
) -> None:
    if name != INDEX and router.root("systemctl", "is-active", VPP, check=False).strip() != "active":
        pytest.skip("the image has no VPP")
    seen = _seen(router, name)
    assert set(seen["write"]) - {"/sys/kernel/mm/transparent_hugepage/enabled"} == writes
    assert seen["connect"] == connects
    assert not set(_SECRETS) & set(seen["read"]) and not seen["becomes_group_0"]


def test_who_has_vpp_s_uid_and_group_does_not_command_the_agent(router: Router) -> None:
    """Even with the agent's socket in sight: root in group vpp is not root there."""
    ask = [PYTHON, "-c", _ASK]
    as_vpp = ["setpriv", "--regid", "vpp", "--clear-groups", "--"]
    assert "may not use the agent" in router.root(*as_vpp, *ask)
    assert router.root(*ask).startswith("revision ")


def test_the_processes_run_as_the_table_says(router: Router) -> None:
    running = router.root("ps", "-eo", "user:32,group:32,args")
    for program, user, group in (
        ("/usr/bin/vpp ", "root", "vpp"),
        ("/usr/lib/millrace/feeder ", "millrace-feeder", "millrace-feeder"),
        ("/usr/lib/millrace/bgp-index ", "millrace-index", "millrace-index"),
    ):
        lines = [line.split(maxsplit=2) for line in running.splitlines() if program in f"{line} "]
        for found_user, found_group, _ in lines:
            assert (found_user, found_group) == (user, group)


def test_the_web_half_may_append_to_the_audit_log_and_not_change_it(router: Router) -> None:
    as_web = ["runuser", "-u", "millrace-web", "--", "psql", "-X", "-h", "/run/postgresql", "-d", "millrace"]
    assert router.root("systemctl", "is-active", "millrace-audit-guard.service").strip() == "active"
    given = "time, username, address, via, action, target, changes, result, detail"
    values = "'2001-01-01', 'eve', '', '', 'x', '', '[]', 'done', ''"
    entry = f"INSERT INTO accounts_auditentry ({given}) VALUES ({values}) RETURNING time > '2002-01-01'"
    assert router.root(*as_web, "-qtA", "-c", entry).strip() == "t"
    for statement in (
        "UPDATE accounts_auditentry SET username = 'nobody'",
        "DROP TRIGGER audit_guard ON accounts_auditentry",
        "DROP SCHEMA public CASCADE",
    ):
        refused = router.root("sh", "-c", '"$@" 2>&1 || true', "sh", *as_web, "-c", statement)
        assert refused.startswith(("ERROR:  permission denied", "ERROR:  must be owner")), refused
