"""What a test needs of the machine: where that is absent, the test is skipped with a reason that is counted.

Each reason is raised in one place, so that pytest's summary folds all skips of a kind into
one line with their number.
"""

import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lab import rust_program

VPP = Path("/usr/bin/vpp")

needs_vpp = pytest.mark.vpp
needs_root_netns = pytest.mark.root


@functools.cache
def can_make_namespaces() -> bool:
    """True for root on a kernel that lets it make network namespaces."""
    if os.geteuid() != 0:
        return False
    return subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode == 0


_LINKS = {
    "vrf": ("VRFs (module vrf)", "link add probe type vrf table 10"),
    "bond": ("bonds (module bonding)", "link add probe type bond"),
    "gre": ("GRE (module ip_gre)", "link add probe type gre remote 192.0.2.1"),
    "ip6gre": ("GRE over IPv6 (module ip6_gre)", "link add probe type ip6gre remote 2001:db8::1"),
    "sit": ("IP in IPv4 (module sit)", "link add probe type sit remote 192.0.2.1"),
    "ip6tnl": ("IP in IPv6 (module ip6_tunnel)", "link add probe type ip6tnl remote 2001:db8::1"),
    "vlan": ("VLANs (module 8021q)", "link add on type veth\nlink add probe link on type vlan id 10"),
}


@functools.cache
def _kernel_makes(link: str) -> bool:
    argv, batch = ["unshare", "--net", "ip", "-batch", "-"], _LINKS[link][1] + "\n"
    return subprocess.run(argv, input=batch, text=True, capture_output=True, check=False).returncode == 0


def require_links(*links: str) -> None:
    """Skip the running test, or all that use the running fixture, unless the kernel can make such links."""
    for link in links:
        if not _kernel_makes(link):
            pytest.skip(f"this kernel has no {_LINKS[link][0]}")


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
    """Skip the running test, or all that use the running fixture, unless the Rust programs can be built."""
    if rust_program.compiler() is None:
        pytest.skip("there is no Rust compiler (Debian package rustc)")


def require_dhcp() -> None:
    """Skip the running test, or all that use the running fixture, without a DHCP server and a client."""
    if not (shutil.which("dnsmasq") and shutil.which("busybox")):
        pytest.skip("there is no DHCP server and client (Debian packages dnsmasq-base and busybox)")


def skip_unmet(item: pytest.Item) -> None:
    """Skip a test marked `vpp` or `root` where the machine lacks it."""
    if item.get_closest_marker("root"):
        require_root_netns()
    if item.get_closest_marker("vpp"):
        require_vpp()
