"""FRR's own tools on the result of frr_config: vtysh reads the same, frr-reload finds nothing to do."""

from __future__ import annotations

import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from frr_config import Routing, parse, render
from tests.integration.frr.conftest import INTERFACES, configure
from tests.integration.frr.harness import FrrHarness
from tests.integration.frr.test_contract import DOCUMENT
from tests.property.routing_documents import random_routing

pytestmark = pytest.mark.root
_ABOUT_THE_PROCESS = ("frr version", "hostname", "no hostname", "service", "no log", "log")
_EMPTY_BFD = re.compile(r"^bfd\n!?\s*exit$", re.MULTILINE)
"""bfdd continues to print an empty block after its last profile is removed; the file omits it, and the
reloader would remove it. A block with any content remains a difference.
"""
RELOAD = Path("/usr/lib/frr/frr-reload.py")


@pytest.fixture(params=range(4))
def configured(request: pytest.FixtureRequest, empty_router: FrrHarness) -> FrrHarness:
    """A router with a document of its own: the contract's, or a random one."""
    seed: int = request.param
    document = random_routing(random.Random(seed), INTERFACES) if seed else Routing.model_validate(DOCUMENT)
    configure(empty_router.client(), document)
    return empty_router


def test_vtysh_shows_what_is_observed(configured: FrrHarness) -> None:
    observed = configured.client().observe()
    shown = parse(configured.vtysh("show running-config"), observed.version)
    assert shown.text() == observed.text()
    assert shown == observed


def test_frr_reload_has_nothing_to_do(configured: FrrHarness) -> None:
    """Debian's own reloader, as an oracle: our frr.conf equals what runs."""
    if not RELOAD.exists() or "FRR_ROOT" in os.environ:
        pytest.skip("frr-reload.py is not installed (Debian package frr-pythontools)")
    client = configured.client()
    client.write_startup(client.observe())
    target = configured.config_dir / "frr.conf"
    argv = ["/usr/bin/python3", str(RELOAD), "--test", "--stdout", "--log-level", "error"]
    argv += ["--pathspace", configured.pathspace, str(target)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    lines = [
        line for line in done.stdout.splitlines() if line.strip() and not line.startswith(("Lines", "="))
    ]
    if _EMPTY_BFD.search(configured.vtysh("show running-config")):
        lines = [line for line in lines if line.strip() != "no bfd"]
    assert _said_by_us(lines) == []


def _said_by_us(lines: list[str]) -> list[str]:
    """Without the parts that the file omits because they are not routing, and those that FRR 8.4 prints
    twice.
    """
    ours = [line.strip() for line in lines if not line.startswith(_ABOUT_THE_PROCESS)]
    ours = [
        line
        for line in ours
        if not re.fullmatch(r"(no )?(ip forwarding|ipv6 forwarding|area \S+ nssa)", line)
    ]
    return [] if set(ours) <= {"router ospf", "exit"} else ours


def test_frr_boots_with_the_startup_file(configured: FrrHarness) -> None:
    client = configured.client()
    before = client.observe()
    client.write_startup(before)
    written = configured.config_dir / "frr.conf"
    assert written.stat().st_mode & 0o777 == 0o640
    assert (written.owner(), written.group()) == ("root", "frr")
    for daemon in configured.daemons:
        configured.kill(daemon)
    for daemon in configured.daemons:
        configured.start_daemon(daemon)
    assert client.observe().is_empty
    configured.vtysh_boot()
    assert client.observe() == before


def test_startup_file_of_an_empty_document(empty_router: FrrHarness) -> None:
    client = empty_router.client()
    client.write_startup(render(Routing(), client.version()))
    empty_router.vtysh_boot()
    assert client.observe().is_empty
