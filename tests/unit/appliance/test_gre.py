"""Tunnels: compiled, applied to a simulated kernel, let in, and refused where they are not possible."""

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
from appliance.dataplane.control_plane.rules import peer_sets
from appliance.dataplane.control_plane.step import describe
from appliance.dataplane.kernel_need import lacking
from appliance.dataplane.linux.dump import Dump
from appliance.dataplane.linux.objects.gre_link import GreLink
from appliance.dataplane.linux.plan import plan
from appliance.dataplane.linux.state import LinuxState
from appliance.dataplane.nic import Nic
from appliance.features.registry import declared
from appliance.impact.change import is_up
from tests.unit.appliance.tunnel_kernel import TunnelKernel

NICS = (Nic("eth0", "02:4d:52:00:03:00"),)
Json = dict[str, Any]


def _document(**tunnels: Json) -> Json:
    wan = {
        "type": "ethernet",
        "match": {"device": "eth0"},
        "addresses": ["2001:db8::1/64", "192.0.2.1/24", "198.51.100.1/24"],
    }
    made = {name: {"type": "gre", "source": "wan0", **settings} for name, settings in tunnels.items()}
    return {"interfaces": {"wan0": wan, **made}}


def _compile(document: Json, driver: Any) -> Any:
    return compile_document(parse_document(document), driver, CompileContext(NICS))[driver]


FOUR = {"destination": "203.0.113.1", "addresses": ["10.9.0.1/30"]}
SIX = {"destination": "2001:db8:1::1", "mtu": 1456}
STATES = {
    "none": _document(),
    "one": _document(gre1=FOUR),
    "by address": _document(gre1={**FOUR, "source": "198.51.100.1", "mtu": 1400}),
    "down": _document(gre1={**FOUR, "enabled": False}),
    "over IPv6": _document(gre1=SIX),
    "two": _document(gre1=FOUR, gre2=SIX),
    "exchanged": _document(gre1=SIX, gre2=FOUR),
}


def _observe(kernel: TunnelKernel) -> LinuxState:
    return LinuxState.of(GreLink.observe(Dump(kernel)))  # type: ignore[arg-type]  # stands for an Access


def _go(kernel: Any, document: Json) -> None:
    desired = LinuxState.of(
        item for item in _compile(document, "linux").values() if isinstance(item, GreLink)
    )
    for step in plan(desired, _observe(kernel)):
        if step.after is None:
            assert step.before is not None
            step.before.delete(kernel)
        elif step.before is None:
            step.after.create(kernel)
        else:
            step.after.update(step.before, kernel)
    assert plan(desired, _observe(kernel)) == []


@pytest.mark.parametrize("second", STATES)
@pytest.mark.parametrize("first", STATES)
def test_the_kernel_is_brought_from_each_state_to_each_other(first: str, second: str) -> None:
    kernel = TunnelKernel()
    for name in (first, second, first):
        _go(kernel, STATES[name])


def test_the_kernels_packets_are_those_vpp_sends() -> None:
    kernel = TunnelKernel()
    _go(kernel, STATES["two"])
    four, six = sorted(kernel.links.values(), key=lambda link: str(link["ifname"]))
    assert (four["kind"], four["ends"], four["gre_ttl"]) == ("gre", ("192.0.2.1", "203.0.113.1"), 254)
    assert (six["kind"], six["ends"], six["ip6gre_ttl"], six["ip6gre_flags"]) == (
        "ip6gre", ("2001:db8::1", "2001:db8:1::1"), 254, 1,
    )  # fmt: skip


def test_vpp_gets_the_tunnel_and_a_mirror_without_ethernet() -> None:
    objects = _compile(STATES["one"], "vpp").objects
    tunnel = objects["gre/gre1"]
    assert (str(tunnel.source), str(tunnel.destination), tunnel.mtu) == ("192.0.2.1", "203.0.113.1", 1476)
    assert objects["lcp_pair/gre1"].host_if_type == "tun"
    assert objects["lcp_pair/wan0"].host_if_type == "tap"


def test_gre_is_let_in_from_where_tunnels_end() -> None:
    wanted = compile_control_plane(parse_document(STATES["two"]))
    assert wanted.peers == (Peer("tunnel", "2001:db8:1::1/128", "47"), Peer("tunnel", "203.0.113.1/32", "47"))
    assert peer_sets(wanted) == {
        "tunnel-ipv4-47": ("203.0.113.1/32",),
        "tunnel-ipv6-47": ("2001:db8:1::1/128",),
    }
    assert "open GRE from 203.0.113.1" in describe(ControlPlane(), wanted)


def test_a_tunnel_at_an_interface_goes_with_it() -> None:
    document = _document(gre1=FOUR, gre2={**FOUR, "source": "198.51.100.1", "addresses": []})
    document["interfaces"]["wan0"]["enabled"] = False
    config = parse_document(document)
    assert not is_up(config, "gre1")
    gone = CompileContext((Nic("eth0", "02:4d:52:00:03:00", present=False),))
    left = compile_document(config, "linux", gone)["linux"]
    assert "interface/gre1" not in left
    vlan = {"type": "sub_interface", "parent": "wan0", "vlan_id": 7, "addresses": ["10.7.0.1/24"]}
    document["interfaces"] |= {"wan0.7": vlan, "gre1": {"type": "gre", "source": "wan0.7", **FOUR}}
    left = compile_document(parse_document(document), "linux", gone)["linux"]
    assert {"interface/gre1", "interface/wan0.7"} & set(left) == set()


@pytest.mark.parametrize(
    ("has", "refused"),
    [
        ((), {"/interfaces/gre1/type", "/interfaces/gre2/type", "/interfaces/gre2/destination"}),
        (("gre",), {"/interfaces/gre2/destination"}),
        (("gre", "ip6gre"), set()),
    ],
)
def test_a_kernel_without_gre_is_named(has: tuple[str, ...], refused: set[str]) -> None:
    lacks = lacking(declared("linux", "NEEDS"), lambda link: link in has)
    problems = check(parse_document(STATES["two"]), Capabilities("linux", lacking=lacks))
    assert {problem.pointer for problem in problems} == refused
    assert all("kernel" in problem.message for problem in problems)


def test_tunnels_in_tunnels_are_fine_while_they_end() -> None:
    inner = {"source": "10.9.0.1", "destination": "10.9.0.2", "mtu": 1452, "addresses": ["10.9.1.1/30"]}
    document = _document(gre1=FOUR, gre2=inner)
    assert check(parse_document(document), Capabilities("vpp")) == []
    document["interfaces"]["gre2"]["mtu"] = 1453
    (problem,) = check(parse_document(document), Capabilities("vpp"))
    assert (problem.pointer, problem.message.endswith("at most 1452")) == ("/interfaces/gre2/mtu", True)
