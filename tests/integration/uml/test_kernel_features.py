"""Tests that need features which this machine's kernel may lack, on the kernel of user-mode Linux.

It is a program (Debian package user-mode-linux) over this machine's own files, so it runs the tests of this
source tree. Its kernel has VRFs, bonds, VLANs and GRE, and no nftables.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.integration.frr.bird_neighbor import bird_installed
from tests.integration.frr.harness import frr_installed
from tests.requirements import require_root_netns

pytestmark = [pytest.mark.root, pytest.mark.timeout(900)]

KERNEL = "linux.uml"
ROOT = Path(__file__).resolve().parents[3]
VETH = ("veth", "dummy")
_MEMORY = "3G"
_LONGEST_S = 400
_BGPD_ENDED = "bgpd does not answer"
"""FRR 8.4.4's bgpd crashed in one of ten runs, while imports between VRFs changed. On a router it is
restarted and configured again, which other tests show; here nobody restarts it, and everything after it
fails.
"""
_UNKNOWN_REGISTERS = "ptrace set fp regs failed"
"""What Debian 12's ends with, before it runs anything, where a processor has more registers than it knows of
(AMX).
"""


def _run(modules: tuple[str, ...], test: str) -> str:
    """What the console of a kernel with these modules prints that runs this file of tests."""
    settings = {
        "REPOSITORY": str(ROOT),
        "PYTHON": sys.executable,
        "MODULES": ",".join((*VETH, *modules)),
        "TESTS": test,
    }
    argv = [
        *(KERNEL, f"mem={_MEMORY}", "root=none", "rootfstype=hostfs", "rootflags=/", "rw", "quiet"),
        *(f"init={Path(__file__).with_name('init.sh')}", "con=null", "con0=fd:0,fd:1"),
        *(f"{name}={value}" for name, value in settings.items()),
    ]
    done = subprocess.run(
        argv, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_LONGEST_S
    )
    return done.stdout


@pytest.mark.parametrize(
    ("test", "modules", "at_least"),
    [
        pytest.param("tests/integration/linux/test_vrfs.py", ("vrf",), 6, id="vrfs"),
        pytest.param(
            "tests/integration/linux/test_links.py",
            ("bonding", "8021q", "ip_gre", "ip6_gre", "sit", "ip6_tunnel", "vrf"),
            10,
            id="links",
        ),
        pytest.param(
            "tests/integration/vpp/test_with_the_kernel.py",
            ("bonding", "8021q", "ip_gre", "ip6_gre", "sit", "ip6_tunnel", "tun"),
            5,
            id="vpp",
            marks=pytest.mark.vpp,
        ),
    ],
)
def test_on_a_kernel_with_more_drivers(test: str, modules: tuple[str, ...], at_least: int) -> None:
    require_root_netns()
    if shutil.which(KERNEL) is None:
        pytest.skip("user-mode Linux is not installed (Debian package user-mode-linux)")
    if not frr_installed() or not bird_installed():
        pytest.skip("FRRouting or BIRD is not installed (Debian packages frr, bird2)")
    printed = _run(modules, test)
    if _UNKNOWN_REGISTERS in printed:
        pytest.skip("this processor has registers that user-mode Linux does not know: no program runs in it")
    if _BGPD_ENDED in printed:
        printed = _run(modules, test)
    _, began, rest = printed.partition("RESULTS BEGIN\n")
    assert began, printed[-4000:]
    suite = ET.fromstring(rest.partition("\nRESULTS END")[0]).find("testsuite")
    assert suite is not None
    bad = {name: int(suite.get(name, "0")) for name in ("failures", "errors", "skipped")}
    assert bad == dict.fromkeys(bad, 0), printed.partition("RESULTS BEGIN")[0][-20000:]
    assert int(suite.get("tests", "0")) >= at_least
