"""Tunnels of IP in IP: compiled, applied to a simulated kernel, let in, and refused where they cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.compile import CompileContext, compile_document
from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.services import Peer
from appliance.config.validate import check
from appliance.dataplane.control_plane.compile import compile_control_plane
from appliance.dataplane.control_plane.policy import ControlPlane
from appliance.dataplane.control_plane.step import describe
from appliance.dataplane.kernel_need import lacking
from appliance.dataplane.linux.dump import Dump
from appliance.dataplane.linux.objects.ipip_link import IpipLink
from appliance.dataplane.linux.plan import plan
from appliance.dataplane.linux.state import LinuxState
from appliance.dataplane.nic import Nic
from appliance.features.registry import declared
from tests.unit.appliance.tunnel_kernel import TunnelKernel
from webui.ui.tables.listing import kind_title

NICS = (Nic("eth0", "02:4d:52:00:03:00"),)
Json = dict[str, Any]


def _document(**tunnels: Json) -> Json:
    wan = {"type": "ethernet", "match": {"device": "eth0"}, "addresses": ["2001:db8::1/64", "192.0.2.1/24"]}
    made = {name: {"type": "ipip", "source": "wan0", **settings} for name, settings in tunnels.items()}
    return {"interfaces": {"wan0": wan, **made}}


def _compile(document: Json, driver: Any) -> Any:
    return compile_document(parse_document(document), driver, CompileContext(NICS))[driver]


FOUR = {"destination": "203.0.113.1", "addresses": ["10.9.0.1/30", "2001:db8:9::1/64"]}
SIX = {"destination": "2001:db8:1::1", "mtu": 1460}
STATES = {
    "none": _document(),
    "one": _document(ipip1=FOUR),
    "down, smaller": _document(ipip1={**FOUR, "enabled": False, "mtu": 1400}),
    "two": _document(ipip1=FOUR, ipip2=SIX),
    "exchanged": _document(ipip1=SIX, ipip2=FOUR),
}


def _go(kernel: Any, document: Json) -> None:
    desired = LinuxState.of(
        item for item in _compile(document, "linux").values() if isinstance(item, IpipLink)
    )

    def observed() -> LinuxState:
        return LinuxState.of(IpipLink.observe(Dump(kernel)))

    for step in plan(desired, observed()):
        if step.after is None:
            assert step.before is not None
            step.before.delete(kernel)
        elif step.before is None:
            step.after.create(kernel)
        else:
            step.after.update(step.before, kernel)
    assert plan(desired, observed()) == []


@pytest.mark.parametrize("second", STATES)
@pytest.mark.parametrize("first", STATES)
def test_the_kernel_is_brought_from_each_state_to_each_other(first: str, second: str) -> None:
    kernel = TunnelKernel()
    for name in (first, second, first):
        _go(kernel, STATES[name])


def test_the_kernels_devices_carry_both_families_as_vpps_do() -> None:
    kernel = TunnelKernel()
    _go(kernel, STATES["two"])
    four, six = sorted(kernel.links.values(), key=lambda link: str(link["ifname"]))
    assert (four["kind"], four["ends"], four["sit_ttl"], four["sit_proto"]) == (
        "sit", ("192.0.2.1", "203.0.113.1"), 64, 0,
    )  # fmt: skip
    assert (six["kind"], six["ends"], six["ip6tnl_ttl"], six["ip6tnl_proto"], six["ip6tnl_flags"]) == (
        "ip6tnl", ("2001:db8::1", "2001:db8:1::1"), 64, 0, 1,
    )  # fmt: skip


def test_vpp_gets_the_tunnel_and_a_mirror_without_ethernet() -> None:
    objects = _compile(STATES["one"], "vpp").objects
    tunnel = objects["ipip/ipip1"]
    assert (str(tunnel.source), str(tunnel.destination), tunnel.mtu) == ("192.0.2.1", "203.0.113.1", 1480)
    assert objects["lcp_pair/ipip1"].host_if_type == "tun"


def test_both_protocols_are_let_in_from_where_tunnels_end() -> None:
    wanted = compile_control_plane(parse_document(STATES["two"]))
    assert wanted.peers == tuple(
        Peer("tunnel", prefix, protocol)
        for prefix in ("2001:db8:1::1/128", "203.0.113.1/32")
        for protocol in ("4", "41")
    )
    words = describe(ControlPlane(), wanted)
    assert "open IPv4 in IP from 203.0.113.1; open IPv6 in IP from 203.0.113.1" in words


@pytest.mark.parametrize(
    ("has", "refused"),
    [
        ((), {"/interfaces/ipip1/type", "/interfaces/ipip2/type", "/interfaces/ipip2/destination"}),
        (("sit",), {"/interfaces/ipip2/destination"}),
        (("sit", "ip6tnl"), set()),
    ],
)
def test_a_kernel_without_such_tunnels_is_named(has: tuple[str, ...], refused: set[str]) -> None:
    lacks = lacking(declared("linux", "NEEDS"), lambda link: link in has)
    problems = check(parse_document(STATES["two"]), Capabilities("linux", lacking=lacks))
    assert {problem.pointer for problem in problems} == refused


def test_a_gre_tunnel_may_have_the_same_ends_and_one_of_its_kind_may_not() -> None:
    document = _document(ipip1=FOUR, gre1={"type": "gre", "destination": "203.0.113.1"})
    assert check(parse_document(document), Capabilities("vpp")) == []
    document = _document(ipip1=FOUR, ipip2={"destination": "203.0.113.1"})
    (problem,) = check(parse_document(document), Capabilities("vpp"))
    assert problem.pointer == "/interfaces/ipip2/destination"
    assert problem.message == "ipip1 is already the tunnel from 192.0.2.1 to 203.0.113.1"


def test_tunnels_of_both_kinds_must_end_somewhere() -> None:
    document = _document(
        ipip1={"source": "10.9.1.1", "destination": "10.9.1.2", "addresses": ["10.9.0.1/30"], "mtu": 1400},
        gre1={
            "type": "gre", "source": "10.9.0.1", "destination": "10.9.0.2", "addresses": ["10.9.1.1/30"],
            "mtu": 1400,
        },
    )  # fmt: skip
    problems = check(parse_document(document), Capabilities("vpp"))
    assert {
        "/interfaces/gre1/destination",
        "/interfaces/ipip1/destination",
    } < {problem.pointer for problem in problems}


def test_its_headers_are_smaller_than_those_of_gre() -> None:
    document = _document(ipip1={**FOUR, "mtu": 1481}, ipip2={**SIX, "mtu": 1461})
    problems = check(parse_document(document), Capabilities("vpp"))
    assert [problem.message.rpartition("; ")[2] for problem in problems] == [
        "set at most 1480", "set at most 1460",
    ]  # fmt: skip


def test_people_read_it_in_capitals() -> None:
    assert kind_title("ipip") == "IPIP"
