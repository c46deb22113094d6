"""Data NICs that the kernel still drives, in namespaces of our own::

near 10.77.9.1/24 --- 10.77.9.2/24 far      two wires: n0 - f0, n1 - f1
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.dataplane.namespace import Namespace, attributes
from appliance.platform import firewall, links
from appliance.programs import HostPrograms, ProgramFailed, run
from tests.requirements import needs_root_netns

pytestmark = needs_root_netns
NEAR, FAR = f"mrp{os.getpid()}n", f"mrp{os.getpid()}f"
ETH_P_ALL = 3


@pytest.fixture
def far() -> Iterator[Namespace]:
    """The namespace whose NICs are ours to set up."""
    for name in (NEAR, FAR):
        run(["ip", "netns", "add", name])
    try:
        for number in (0, 1):
            peer = ["type", "veth", "peer", "name", f"f{number}", "netns", FAR]
            run(["ip", "-n", NEAR, "link", "add", f"n{number}", *peer])
            run(["ip", "-n", NEAR, "link", "set", f"n{number}", "up"])
            run(["ip", "-n", FAR, "link", "set", f"f{number}", "up"])
        run(["ip", "-n", NEAR, "address", "add", "10.77.9.1/24", "dev", "n0"])
        run(["ip", "-n", FAR, "address", "add", "10.77.9.2/24", "dev", "f0"])
        space = Namespace(FAR)
        try:
            yield space
        finally:
            space.close()
    finally:
        for name in (NEAR, FAR):
            subprocess.run(["ip", "netns", "delete", name], check=False)


def macs(space: Namespace) -> dict[str, str]:
    """Names by MAC address."""
    messages = space.run(lambda: [attributes(message) for message in space.route().get_links()])
    return {known["IFLA_ADDRESS"]: known["IFLA_IFNAME"] for known in messages if known["IFLA_IFNAME"] != "lo"}


def ping() -> int:
    """Exit status of a ping from near to far."""
    argv = ["ip", "netns", "exec", NEAR, "ping", "-c", "1", "-W", "1", "10.77.9.2"]
    return subprocess.run(argv, capture_output=True, check=False).returncode


def test_two_devices_swap_their_names_while_up(far: Namespace) -> None:
    before = macs(far)
    far.run(links.rename, {"f0": "f1", "f1": "f0"})
    swapped = {"f0": "f1", "f1": "f0"}
    assert macs(far) == {mac: swapped.get(name, name) for mac, name in before.items()}


def test_a_device_that_is_not_there_is_said_so(far: Namespace) -> None:
    with pytest.raises(links.RenameFailed, match="no network device eth9"):
        far.run(links.rename, {"eth9": "lan"})


def test_an_isolated_device_is_heard_by_packet_sockets_only(far: Namespace) -> None:
    """VPP reads such a NIC through a packet socket; the host's own stack must not receive its packets."""
    assert ping() == 0
    far.run(firewall.isolate, ["f0"])

    def listen() -> socket.socket:
        heard = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        heard.bind(("f0", 0))
        heard.settimeout(5)
        return heard

    with far.run(listen) as heard:
        assert ping() != 0
        assert heard.recv(2000)
    far.run(firewall.isolate, ["f1"])
    assert ping() == 0, "again is the whole truth: f0 is not named any more"
    far.run(firewall.isolate, [])
    assert ping() == 0


def test_a_nic_of_vpps_hands_over_every_frame_as_it_came(far: Namespace) -> None:
    """Groups nobody joined, VLANs nobody has, and no frame merged or left without its checksum."""
    assert far.run(links.pass_through, "f0", HostPrograms())
    shown = json.loads(run(["ip", "-n", FAR, "-d", "-j", "link", "show", "dev", "f0"]))
    assert {"PROMISC", "ALLMULTI"} <= set(shown[0]["flags"])
    offloads = run(["ip", "netns", "exec", FAR, "ethtool", "-k", "f0"]).splitlines()
    states = {name.strip(): state.split() for name, _, state in (line.partition(":") for line in offloads)}
    for name in ("rx-checksumming", "tx-checksumming", "generic-receive-offload", "tcp-segmentation-offload"):
        assert states[name][0] == "off"
    far.run(links.pass_through, "f0", HostPrograms())


def test_a_nic_that_is_not_there_is_said_so(far: Namespace) -> None:
    with pytest.raises(ProgramFailed, match="eth9"):
        far.run(links.pass_through, "eth9", HostPrograms())


def test_only_the_management_device_is_let_in(far: Namespace) -> None:
    """ssh's port answers (refuses) on the device that is named; on others nothing comes back."""
    rules = Path(__file__).resolve().parents[3] / "appliance/system/etc/nftables.conf"
    far.run(run, ["nft", "-f", str(rules)])

    def knock(port: int) -> str:
        argv = ["ip", "netns", "exec", NEAR, "python3", "-c", _KNOCK, str(port)]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()

    far.run(firewall.let_management_in, ["f0"])
    assert {port: knock(port) for port in (22, 443, 80)} == {22: "refused", 443: "refused", 80: "silent"}
    far.run(firewall.let_management_in, ["f1"])
    assert knock(22) == "silent"


def test_one_host_leaves_room_for_the_others(far: Namespace) -> None:
    """A host that opens as many connections as it can gets only its share; another one still gets in."""
    rules = Path(__file__).resolve().parents[3] / "appliance/system/etc/nftables.conf"
    run(["ip", "-n", NEAR, "address", "add", "10.77.9.3/24", "dev", "n0"])
    for address in ("fd77:0:0:1::1/48", "fd77:0:0:1::2/48", "fd77:0:0:2::1/48"):
        run(["ip", "-n", NEAR, "address", "add", address, "dev", "n0", "nodad"])
    run(["ip", "-n", FAR, "address", "add", "fd77::2/48", "dev", "f0", "nodad"])
    far.run(run, ["nft", "-f", str(rules)])
    far.run(firewall.let_management_in, ["f0"])

    def listen() -> socket.socket:
        at = ("::", 443)
        return socket.create_server(at, family=socket.AF_INET6, dualstack_ipv6=True, backlog=512)

    with far.run(listen):
        for host, guests in (
            ("10.77.9.2", (["10.77.9.1"], ["10.77.9.3"])),
            # Two addresses of one /64 are one host.
            ("fd77::2", (["fd77:0:0:1::1", "fd77:0:0:1::2"], ["fd77:0:0:2::1"])),
        ):
            argv = ["ip", "netns", "exec", NEAR, "python3", "-c", _CROWD, host]
            words = [",".join(one) for one in guests]
            done = subprocess.run([*argv, *words], capture_output=True, text=True, check=True, timeout=60)
            many, one = map(int, done.stdout.split())
            assert many == 160, (host, many)
            assert one == 1, host


# Opens 190 connections from the addresses of the first host and keeps them, then one from the second host's.
_CROWD = """
import socket, sys
kept = []
def opened(address):
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    sock.settimeout(1)
    sock.bind((address, 0))
    try:
        sock.connect((sys.argv[1], 443))
    except OSError:
        return 0
    kept.append(sock)
    return 1
many = sys.argv[2].split(",")
print(sum(opened(many[n % len(many)]) for n in range(190)), opened(sys.argv[3]))
"""

_KNOCK = """
import socket, sys
with socket.socket() as sock:
    sock.settimeout(1)
    try:
        sock.connect(("10.77.9.2", int(sys.argv[1])))
    except TimeoutError:
        print("silent")
    except ConnectionRefusedError:
        print("refused")
"""
