"""What a test needs of the machine: where that is absent, the test is skipped with a reason that is counted.

Each reason is raised in one place, so that pytest's summary folds all skips of a kind into
one line with their number.
"""

import functools
import os
import subprocess
from pathlib import Path

import pytest

from lab import feeder

VPP = Path("/usr/bin/vpp")

needs_vpp = pytest.mark.vpp
needs_root_netns = pytest.mark.root


@functools.cache
def can_make_namespaces() -> bool:
    """True for root on a kernel that lets it make network namespaces."""
    if os.geteuid() != 0:
        return False
    return subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode == 0


@functools.cache
def kernel_has_vrfs() -> bool:
    """Whether the kernel can make VRFs."""
    argv = ["unshare", "--net", "ip", "link", "add", "probe", "type", "vrf", "table", "10"]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


def require_vrfs() -> None:
    """Skip the running test, or all that use the running fixture, unless the kernel has VRFs."""
    if not kernel_has_vrfs():
        pytest.skip("this kernel has no VRFs (module vrf)")


def vpp_installed() -> bool:
    """True where VPP can be started."""
    return VPP.exists()


def require_root_netns() -> None:
    """Skip the running test, or all that use the running fixture, unless namespaces can be made."""
    if not can_make_namespaces():
        pytest.skip("network namespaces need root")


def require_vpp() -> None:
    """Skip the running test, or all that use the running fixture, unless VPP is installed."""
    if not vpp_installed():
        pytest.skip(f"VPP is not installed ({VPP})")


def require_rustc() -> None:
    """Skip the running test, or all that use the running fixture, unless the feeder can be built."""
    if feeder.compiler() is None:
        pytest.skip("there is no Rust compiler (Debian package rustc)")


def skip_unmet(item: pytest.Item) -> None:
    """Skip a test marked `vpp` or `root` where the machine lacks it."""
    if item.get_closest_marker("root"):
        require_root_netns()
    if item.get_closest_marker("vpp"):
        require_vpp()
