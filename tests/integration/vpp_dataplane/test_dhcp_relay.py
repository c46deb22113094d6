"""A client gets its lease through the router: udhcpc on one side of VPP, dnsmasq on the other.

left (clients) 10.77.1.0/24 --- left0 [VPP] right0 --- 10.77.2.2 right (server)

What is refused by the checks is committed past them here: it is why they refuse it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from appliance.compile import compile_document
from appliance.config.load import parse_document
from appliance.engine.backend import PHASES
from appliance.state.dhcp_relays import DhcpRelays, on_vpp
from tests.integration.linux.conftest import DOCUMENT, run
from tests.integration.vpp.harness import PrivateVpp
from tests.integration.vpp_dataplane.conftest import Router, _with_devices
from tests.integration.vpp_dataplane.dhcp import heard_by, lease, serving
from tests.requirements import require_dhcp

pytestmark = [pytest.mark.vpp, pytest.mark.root]
Json = dict[str, Any]

WITHOUT_PLUGINS = ("linux_nl",)
"""It ends VPP by itself when there is a tunnel."""
_CLIENTS, _SERVER, _SOURCE = "10.77.1", "10.77.2.2", "10.77.2.1"
_VLAN, _TUNNEL = "10.66.7", "10.66.1"
_ON_VLAN = "left7"
_DEVICE = "peer0"
_IN_VAIN = 2
"""Questions of a client that is not to be answered."""


@pytest.fixture
def server(router: Router, tmp_path: Path) -> Iterator[Path]:
    """One that has addresses for clients' networks, and none for its own."""
    require_dhcp()
    with serving(router.right, tmp_path, _CLIENTS, _VLAN, _TUNNEL) as log:
        yield log


def _relayed(**changes: Any) -> Json:
    document = deepcopy(DOCUMENT)
    document["dhcp_relays"] = {"office": {"server": _SERVER, "source_address": _SOURCE, **changes}}
    return document


def _state(router: Router, document: Json) -> DhcpRelays:
    config = parse_document(document)
    return router.backend.look(vpp=lambda vpp: on_vpp(vpp, config), linux=lambda _: DhcpRelays(relays=()))


def commit_unchecked(router: Router, document: Json) -> None:
    """Whatever the checks say, and without what few kernels that tests run on have: VRFs and VLANs."""
    config = parse_document(_with_devices(document))
    desired = compile_document(config, "vpp", router.backend.compile_context())["vpp"]
    steps = router.backend.plan(desired, router.backend.observe())
    for step in sorted(steps, key=lambda step: PHASES.index(step.phase)):
        if not step.key.startswith(("vrf/", "vrf_member/", f"lcp_pair/{_ON_VLAN}")):
            router.backend.apply(step)


def _networks(state: DhcpRelays) -> dict[str, str]:
    return {one.interface: one.address for relay in state.relays for one in relay.networks}


def test_a_lease_comes_through_the_router_while_there_is_a_relay(router: Router, server: Path) -> None:
    assert lease(router.left, _DEVICE, _IN_VAIN) is None
    before = _state(router, DOCUMENT)
    router.commit(_relayed())
    address = lease(router.left, _DEVICE)
    assert address is not None
    assert address.startswith(f"{_CLIENTS}.")
    told = server.read_text()
    assert f"DHCPACK(peer1) {address} " in told
    state = _state(router, _relayed())
    (relay,) = state.relays
    assert (relay.name, relay.vrf, relay.server) == ("office", None, _SERVER)
    assert relay.source_address == _SOURCE
    assert _networks(state) == {"left0": "10.77.1.1/24", "right0": "10.77.2.1/24"}
    # A discover and a request, an offer and an acknowledgement.
    assert (state.to_servers - before.to_servers, state.to_clients - before.to_clients) == (2, 2)
    assert not [reason for reason in router.backend.counters()["drops"] if "relayed" in reason]
    router.commit(DOCUMENT)
    assert lease(router.left, _DEVICE, _IN_VAIN) is None
    assert server.read_text() == told
    after = _state(router, DOCUMENT)
    assert (after.relays, after.to_servers) == ((), state.to_servers)


@pytest.mark.usefixtures("server")
def test_a_vpp_that_died_relays_again(router: Router, vpp: PrivateVpp) -> None:
    router.commit(_relayed())
    assert lease(router.left, _DEVICE) is not None
    vpp.kill()
    vpp.start()
    router.commit(_relayed())
    router.wait_until_neighbors_are_known()
    assert lease(router.left, _DEVICE) is not None


@pytest.mark.usefixtures("server")
def test_of_two_networks_on_an_interface_the_one_that_vpp_got_first_counts(
    router: Router, vpp: PrivateVpp
) -> None:
    """The state says which it is: the document's first when VPP starts."""
    document = _relayed()
    addresses = document["interfaces"]["left0"]["addresses"]
    document["interfaces"]["left0"]["addresses"] = [f"{_VLAN}.1/24", *addresses]
    for network in (_CLIENTS, _VLAN):
        router.commit(document)
        router.wait_until_neighbors_are_known()
        assert _networks(_state(router, document))["left0"] == f"{network}.1/24"
        address = lease(router.left, _DEVICE)
        assert address is not None
        assert address.startswith(f"{network}.")
        if network == _CLIENTS:
            vpp.kill()
            vpp.start()


@pytest.mark.usefixtures("server")
def test_access_lists_see_what_clients_send_and_not_what_they_get(router: Router) -> None:
    document = _relayed()
    permit = {"action": "permit", "protocol": "udp", "source_ports": "68", "destination_ports": "67"}
    document["acls"] = {
        "dhcp": {"rules": {"10": permit}},
        "nothing": {"rules": {"10": {"action": "deny"}}},
    }
    left = document["interfaces"]["left0"]
    left |= {"acl_in": ["dhcp"], "acl_out": ["nothing"]}
    router.commit(document)
    assert lease(router.left, _DEVICE) is not None
    assert router.hits("nothing") == {10: 0}
    left["acl_in"] = ["nothing"]
    router.commit(document)
    assert lease(router.left, _DEVICE, _IN_VAIN) is None


@pytest.mark.usefixtures("server")
def test_clients_of_a_vrf_are_relayed_into_another(router: Router) -> None:
    document = _relayed(vrf="blue")
    document["vrfs"] = {"blue": {}}
    document["interfaces"]["left0"]["vrf"] = "blue"
    commit_unchecked(router, document)
    assert lease(router.left, _DEVICE) is not None
    state = _state(router, document)
    assert [(one.vrf, one.server_vrf) for one in state.relays] == [("blue", None)]
    assert _networks(state) == {"left0": "10.77.1.1/24"}
    document["dhcp_relays"]["office"]["vrf"] = None
    commit_unchecked(router, document)
    assert lease(router.left, _DEVICE, _IN_VAIN) is None
    commit_unchecked(router, DOCUMENT)


_ASKS = """
import socket, sys
device, vlan = sys.argv[1], int(sys.argv[2])
one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
one.bind((device, 0))
one.settimeout(1)
one.setsockopt(263, 8, 1)  # SOL_PACKET, PACKET_AUXDATA: the kernel takes the tag off
frame = bytes.fromhex(sys.argv[3])
for _ in range(10):
    one.send(frame)
    try:
        while True:
            got, told, _, _ = one.recvmsg(2048, 256)
            tag = int.from_bytes(told[0][2][16:18], sys.byteorder) if told else 0
            if got[:6] == b"\\xff" * 6 and got[12:14] == b"\\x08\\x00" and got[36:38] == b"\\x00\\x44":
                print(tag & 4095, socket.inet_ntoa(got[58:62]))
                sys.exit()
    except TimeoutError:
        pass
"""


def _discover() -> Any:
    from scapy.layers.dhcp import BOOTP, DHCP
    from scapy.layers.inet import IP, UDP

    bootp = BOOTP(chaddr=bytes.fromhex("02766300aa01"), xid=7, flags="B")
    asked = UDP(sport=68, dport=67) / bootp / DHCP(options=[("message-type", "discover"), "end"])
    return IP(src="0.0.0.0", dst="255.255.255.255") / asked


@pytest.mark.usefixtures("server")
def test_a_client_in_a_vlan_gets_an_offer_for_its_own_network(router: Router) -> None:
    """Its frames are built here: few kernels that tests run on have VLANs."""
    from scapy.layers.l2 import Dot1Q, Ether

    document = _relayed()
    vlan = {"type": "sub_interface", "parent": "left0", "vlan_id": 7, "addresses": [f"{_VLAN}.1/24"]}
    document["interfaces"][_ON_VLAN] = vlan
    commit_unchecked(router, document)
    frame = Ether(src="02:76:63:00:aa:01", dst="ff:ff:ff:ff:ff:ff") / Dot1Q(vlan=7) / _discover()
    done = run(router.left, sys.executable, "-c", _ASKS, _DEVICE, "7", bytes(frame).hex(), check=False)
    tag, _, address = done.stdout.strip().partition(" ")
    assert tag == "7", done.stderr
    assert address.startswith(f"{_VLAN}.")
    commit_unchecked(router, DOCUMENT)


@pytest.mark.usefixtures("server")
def test_nat_lets_the_answers_to_addresses_of_outside_interfaces_in(router: Router) -> None:
    document = _relayed()
    document["nat"] = {"inside": ["left0"], "outside": ["right0"], "masquerade": ["right0"]}
    router.commit(document)
    assert lease(router.left, _DEVICE) is not None
    assert _networks(_state(router, document)) == {"left0": "10.77.1.1/24"}
    document["dhcp_relays"]["office"]["source_address"] = "10.77.1.1"
    commit_unchecked(router, document)
    assert lease(router.left, _DEVICE, _IN_VAIN) is None
    router.commit(DOCUMENT)


@pytest.mark.usefixtures("server")
def test_a_port_forward_takes_the_answers_of_the_server(router: Router) -> None:
    document = _relayed()
    forward = {"protocol": "udp", "outside_interface": "right0", "inside_address": f"{_CLIENTS}.2"}
    document["nat"] = {"inside": ["left0"], "outside": ["right0"], "masquerade": ["right0"]}
    for port, is_leased in ((68, True), (67, False)):
        document["nat"]["port_forwards"] = {"taken": {**forward, "outside_port": port, "inside_port": 9067}}
        commit_unchecked(router, document)
        assert (lease(router.left, _DEVICE, _IN_VAIN) is not None) is is_leased
    router.commit(DOCUMENT)


@pytest.mark.usefixtures("server")
def test_clients_on_an_outside_interface_of_nat_are_not_relayed(router: Router) -> None:
    document = _relayed()
    document["nat"] = {"inside": ["right0"], "outside": ["left0"], "masquerade": ["left0"]}
    router.commit(document)
    assert _networks(_state(router, document)) == {"right0": "10.77.2.1/24"}
    assert lease(router.left, _DEVICE, _IN_VAIN) is None


_SHOUTS = """
import socket
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
one.sendto(b"?", ("255.255.255.255", 9))
"""


@pytest.mark.usefixtures("server")
def test_the_kernel_hears_nothing_of_clients_but_other_broadcasts(router: Router) -> None:
    """A relay makes 255.255.255.255 an address of the router in the clients' VRF. The control plane's rules
    drop there what VPP does not take itself.
    """
    for document, ports in ((DOCUMENT, set()), (_relayed(), {"9"}), (DOCUMENT, set())):
        router.commit(document)
        with heard_by(router.middle, "udp and dst host 255.255.255.255") as heard:
            run(router.left, sys.executable, "-c", _SHOUTS)
            assert (lease(router.left, _DEVICE, _IN_VAIN) is not None) is bool(ports)
        assert set(re.findall(r"> 255\.255\.255\.255\.(\d+)", "\n".join(heard()))) == ports
    dropped = [one.dropped for one in router.backend.control_plane_state().interfaces]
    assert any(dropped)


@pytest.mark.usefixtures("server")
def test_two_servers_give_no_lease_when_the_first_does_not_answer(router: Router, vpp: PrivateVpp) -> None:
    """Why there is one: the request goes to the first, whoever made the offer."""
    router.commit(_relayed(server="10.77.2.99"))
    vpp.client().call(
        "dhcp_proxy_config",
        is_add=True,
        rx_vrf_id=0,
        server_vrf_id=0,
        dhcp_server=_SERVER,
        dhcp_src_address=_SOURCE,
    )
    before = _state(router, _relayed())
    assert lease(router.left, _DEVICE, 3) is None
    assert _state(router, _relayed()).to_clients > before.to_clients
    router.commit(_relayed())
    assert lease(router.left, _DEVICE) is not None


_SENDS = """
import socket, sys
one = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
one.sendto(bytes.fromhex(sys.argv[1]), ("10.77.1.1", 0))
"""


@pytest.mark.usefixtures("server")
def test_a_client_that_asks_by_a_tunnel_ends_vpp(router: Router, vpp: PrivateVpp) -> None:
    """Why a relay is refused where there is one. Without it VPP stays."""
    from scapy.layers.inet import IP
    from scapy.layers.l2 import GRE

    tunnel = {"type": "gre", "source": "left0", "destination": "10.77.1.2", "addresses": [f"{_TUNNEL}.1/30"]}
    packet = bytes(IP(src="10.77.1.2", dst="10.77.1.1") / GRE() / _discover()).hex()
    for document in (deepcopy(DOCUMENT), _relayed()):
        document["interfaces"]["gre1"] = tunnel
        commit_unchecked(router, document)
        process = vpp.pid
        run(router.left, sys.executable, "-c", _SENDS, packet)
        if "dhcp_relays" in document:
            assert vpp.wait() != 0
        else:
            assert router.ping(router.left, "10.77.1.1")
            assert vpp.pid == process
    vpp.start()
