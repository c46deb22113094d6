"""Parsing FRR's output."""

from __future__ import annotations

import random

import pytest

from frr_config import V8_4, V10_3, FrrConfig, FrrConfigError, FrrVersion, Line, parse, render
from tests.property.routing_documents import random_routing

INTERFACES = {"d0": ["10.9.0.1/24", "2001:db8:9::1/64"], "d1": ["10.9.1.1/24"]}

PRINTED = """Building configuration...

Current configuration:
!
frr version 8.4.4
frr defaults traditional
hostname vm
! "log file /tmp/x debugging" enabled by "--log" startup option
log syslog informational
no ip forwarding
no ipv6 forwarding
service integrated-vtysh-config
!
ip route 198.51.100.0/24 10.9.0.2
vrf blue
 ip route 10.0.0.0/8 blackhole
exit-vrf
!
interface d0
 ip address 192.0.2.9/24
 ip ospf authentication\x20
 ip ospf area 0.0.0.0
exit
!
interface d1
exit
!
router bgp 65000
 neighbor 192.0.2.1 remote-as 65001
 neighbor 192.0.2.1 password  two  spaces
 neighbor 192.0.2.1 ebgp-multihop
 !
 address-family ipv4 unicast
  neighbor 192.0.2.1 activate
 exit-address-family
 !
 address-family l2vpn evpn
  advertise-all-vni
 exit-address-family
exit
!
router ospf
 area 0.0.0.3 nssa\x20

 area 0.0.0.4 nssa\x20
 area 0.0.0.4 nssa no-summary
exit
!
route-map m permit 10
 set community no-export 65001:2 65001:1 additive
exit
!
route-map m deny 20
exit
!
line vty
!
end
"""


def test_everything_is_kept_but_headers() -> None:
    assert set(parse(PRINTED, V8_4).holders) == {
        Line((), "ip route 198.51.100.0/24 10.9.0.2"),
        Line(("vrf blue",), "ip route 10.0.0.0/8 blackhole"),
        Line(("interface d0",), "ip address 192.0.2.9/24"),
        Line(("interface d0",), "ip ospf authentication"),
        Line(("interface d0",), "ip ospf area 0.0.0.0"),
        Line((), "router bgp 65000"),
        Line(("router bgp 65000",), "neighbor 192.0.2.1 remote-as 65001"),
        Line(("router bgp 65000",), "neighbor 192.0.2.1 password  two  spaces"),
        Line(("router bgp 65000",), "neighbor 192.0.2.1 ebgp-multihop 255"),
        Line(("router bgp 65000", "address-family ipv4 unicast"), "neighbor 192.0.2.1 activate"),
        Line(("router bgp 65000", "address-family l2vpn evpn"), "advertise-all-vni"),
        Line((), "router ospf"),
        Line(("router ospf",), "area 0.0.0.3 nssa"),
        Line(("router ospf",), "area 0.0.0.4 nssa no-summary"),
        Line((), "route-map m permit 10"),
        Line(("route-map m permit 10",), "set community 65001:1 65001:2 no-export additive"),
        Line((), "route-map m deny 20"),
    }


def test_a_file_without_indentation() -> None:
    text = "router bgp 65000\nbgp router-id 192.0.2.9\naddress-family ipv4 unicast\nnetwork 10.0.0.0/8\n"
    text += "exit-address-family\nneighbor x peer-group\nexit\nip route 10.0.0.0/8 blackhole\n"
    assert set(parse(text, V8_4).holders) == {
        Line((), "router bgp 65000"),
        Line(("router bgp 65000",), "bgp router-id 192.0.2.9"),
        Line(("router bgp 65000", "address-family ipv4 unicast"), "network 10.0.0.0/8"),
        Line(("router bgp 65000",), "neighbor x peer-group"),
        Line((), "ip route 10.0.0.0/8 blackhole"),
    }


@pytest.mark.parametrize("version", [V8_4, V10_3])
def test_text_and_json_round_trip(version: FrrVersion) -> None:
    rng = random.Random(3)
    for _ in range(60):
        config = render(random_routing(rng, INTERFACES), version)
        assert parse(config.text(), version) == config
        assert FrrConfig.from_json(config.to_json()) == config
        assert hash(FrrConfig.from_json(config.to_json())) == hash(config)


@pytest.mark.parametrize(
    "broken", [None, {}, {"version": "8.4"}, {"version": "x", "lines": []}, {"lines": [[1]]}]
)
def test_broken_json(broken: object) -> None:
    with pytest.raises(FrrConfigError):
        FrrConfig.from_json(broken)


def test_versions() -> None:
    assert FrrVersion.parse("FRRouting 8.4.4 (vm) on Linux(6.1)") == V8_4
    assert FrrVersion.parse("10.3") == V10_3 > V8_4
    assert str(V10_3) == "10.3"
    with pytest.raises(FrrConfigError):
        FrrVersion.parse("Quagga")
