"""What the kernel of a build machine may lack and the guest's has: VLANs end to end, our own tests inside."""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from lab import namespaces
from tests.image.artefacts import REPOSITORY, Artefacts
from tests.image.fleet import Fleet, Member
from tests.image.guest_python import PYTHON
from tests.image.kinds import VIRTIO
from tests.image.patience import limit_s, wait_for, wall_time
from tests.image.router import Router
from tests.image.two_hosts import TwoHosts
from tests.sizes import divided_by

KIND = VIRTIO
VLAN = 10
TREE = "/var/tmp/image-tests"
TEST_PACKAGES = ("pytest", "pluggy", "iniconfig", "pygments", "pytest-asyncio", "pytest-timeout", "scapy")
"""Pure Python all: the guest's may be another version than the builder's."""
LONGEST_S = 1500.0
SETTINGS = ("minversion", "markers", "asyncio_mode", "asyncio_default_fixture_loop_scope", "xfail_strict")
"""Of this repository's settings of pytest; the others are of plugins that are not there."""
MODULES = ("8021q", "vrf", "dummy", "wireguard", "mpls_router", "bonding", "vxlan", "uio_pci_generic")


@pytest.fixture(scope="module")
def member(fleet: Fleet) -> Member:
    """A router that forwards."""
    return fleet.member(KIND)


@pytest.fixture(scope="module")
def hosts(member: Member) -> TwoHosts:
    """The two hosts."""
    return member.hosts


@pytest.fixture(scope="module")
def router(member: Member) -> Router:
    """The router."""
    return member.router


@pytest.mark.parametrize("module", MODULES)
def test_the_kernel_has(router: Router, module: str) -> None:
    router.root("modprobe", module)


def _tagged(hosts: TwoHosts, vlan: int) -> Any:
    argv = [sys.executable, "-m", "tests.image.tagged_host", str(vlan), "10.79.0.2", "10.79.0.1"]
    return json.loads(namespaces.run_in(hosts.left, argv, timeout_s=120).splitlines()[-1])


def test_a_vlan_answers_with_its_tag_and_only_there(router: Router, hosts: TwoHosts) -> None:
    sub_interface = {
        "type": "sub_interface",
        "parent": "left0",
        "vlan_id": VLAN,
        "addresses": ["10.79.0.1/24"],
    }
    router.patch({"interfaces": {"left0.10": sub_interface}})
    wait_for(
        lambda: _tagged(hosts, VLAN) == {"mac": hosts.mac(1), "replies": [VLAN]},
        timeout_s=60,
        what=f"a tagged echo from VLAN {VLAN}",
    )
    assert _tagged(hosts, VLAN + 1) == {"mac": None, "replies": []}
    mirror = router.root("ip", "-n", "dataplane", "-o", "link", "show", "left0.10")
    assert "left0.10@left0" in mirror
    assert hosts.ping("10.77.2.2", count=5)
    router.patch({"interfaces": {"left0.10": None}})
    assert _tagged(hosts, VLAN) == {"mac": None, "replies": []}


@pytest.mark.parametrize(
    "tests",
    [
        "tests/integration/linux",
        "tests/integration/vpp_dataplane/test_random_documents.py",
        "tests/integration/vpp_dataplane/test_router.py",
        # The guest's FRR is another release than the builder's.
        "tests/integration/frr/test_policy_effect.py",
    ],
)
def test_our_own_tests_pass_inside(router: Router, tests: str, built: Artefacts, tmp_path: Path) -> None:
    if "vpp" in tests and built.dataplane != "vpp":
        pytest.skip("no VPP in this image")
    _send_tests(router)
    # The guest is emulated where there is no KVM: every case runs, the large ones at a tenth of their size.
    # Ended there, too: what goes on would be in the way of the next.
    argv = ["timeout", "--kill-after=10", f"{limit_s(LONGEST_S):.0f}"]
    argv += ["env", "-C", TREE, f"PYTHONPATH={TREE}:{TREE}/packages", "PYTHONDONTWRITEBYTECODE=1"]
    argv += [
        divided_by(10),
        PYTHON,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--timeout=600",
        "-q",
        "-rfEs",
        tests,
    ]
    with wall_time(f"in the guest: {tests}"):
        said = router.root(*argv, timeout_s=LONGEST_S + 60, check=False)
    assert said.strip(), "pytest did not start"
    summary = said.strip().splitlines()[-1]
    assert re.search(r"\b[1-9]\d* passed", summary), said[-8000:]
    assert "failed" not in summary and "error" not in summary, said[-8000:]


def _pytest_ini() -> str:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    lines = [
        "[pytest]",
        "addopts = --import-mode=importlib --strict-markers --strict-config",
        "pythonpath = .",
    ]
    for name in SETTINGS:
        value = settings[name]
        lines.append(f"{name} = " + ("\n    ".join(["", *value]) if isinstance(value, list) else str(value)))
    return "\n".join(lines) + "\n"


def _send_tests(router: Router) -> None:
    """The tests, what they import of the repository, and pytest, which the image does not have."""
    if router.root("ls", f"{TREE}/sent", check=False).strip():
        return
    router.send_tree(REPOSITORY, ["tests", "lab"], TREE)
    router.root("tee", f"{TREE}/pytest.ini", stdin=_pytest_ini().encode())
    for name in TEST_PACKAGES:
        distribution = importlib.metadata.distribution(name)
        tops = {str(file).split("/")[0] for file in distribution.files or ()} - {"..", "__pycache__"}
        root = Path(str(distribution.locate_file("")))
        router.send_tree(root, sorted(tops), f"{TREE}/packages/.{name}")
        router.root("cp", "-r", f"{TREE}/packages/.{name}/.", f"{TREE}/packages/")
    router.root("touch", f"{TREE}/sent")
