"""BMP's lines: as each release prints them, their position, and their removal with their instance."""

from __future__ import annotations

from typing import Any

import pytest

from frr_config import V8_4, V10_3, FakeFrr, FrrConfig, FrrVersion, Routing, plan, render
from frr_config.line import Line
from frr_config.parsing import parse

_BGP: dict[str, Any] = {
    "asn": 65000,
    "router_id": "10.255.0.1",
    "neighbors": {"192.0.2.1": {"remote_asn": 65001, "ipv4_unicast": {}, "ipv6_unicast": {}}},
}
_CONTEXT = ("router bgp 65000", "bmp targets millrace")
_SHOWN = """\
router bgp 65000
 bgp router-id 10.255.0.1
 no bgp default ipv4-unicast
 neighbor 192.0.2.1 remote-as 65001
 !
 address-family ipv4 unicast
  neighbor 192.0.2.1 activate
 exit-address-family
 !
 address-family ipv6 unicast
  neighbor 192.0.2.1 activate
 exit-address-family
 !
 bmp targets millrace
  bmp monitor ipv4 unicast post-policy
  bmp monitor ipv6 unicast post-policy
{listener}
 exit
exit
!
bgp route-map delay-timer 1
"""


def _rendered(version: FrrVersion, asn: int = 65000, *, indexed: bool = True) -> FrrConfig:
    return render(Routing.model_validate({"bgp": {**_BGP, "asn": asn}}), version, indexed=indexed)


@pytest.mark.parametrize(
    ("version", "listener"),
    [
        (V8_4, " \n  bmp listener 127.0.0.1 port 2630"),
        (V10_3, "   bmp listener 127.0.0.1 port 2630"),
    ],
    ids=str,
)
def test_what_a_release_prints_is_what_is_written(version: FrrVersion, listener: str) -> None:
    """bgp_bmp.c: bmp_config_write."""
    shown = parse(_SHOWN.format(listener=listener), version)
    assert [line for line in shown.holders if line.context == _CONTEXT] == [
        Line(_CONTEXT, "bmp monitor ipv4 unicast post-policy"),
        Line(_CONTEXT, "bmp monitor ipv6 unicast post-policy"),
        Line(_CONTEXT, "bmp listener 127.0.0.1 port 2630"),
    ]
    wanted = {line for line in _rendered(version).holders if "maximum-paths" not in line.text}
    assert set(shown.holders) == wanted


def test_the_file_is_read_back_as_it_was_written() -> None:
    wanted = _rendered(V8_4)
    assert parse(wanted.text(), V8_4) == wanted
    assert wanted.text().index("address-family ipv6") < wanted.text().index("bmp targets")


def test_nothing_is_said_without_an_index_or_without_bgp() -> None:
    assert "bmp" not in _rendered(V8_4, indexed=False).text()
    assert render(Routing(), V8_4, indexed=True).is_empty


def test_an_empty_group_of_targets_is_no_configuration() -> None:
    shown = parse("router bgp 65000\n !\n bmp targets millrace\n exit\nexit\n", V8_4)
    assert set(shown.holders) == {Line((), "router bgp 65000")}


def test_the_listener_goes_before_its_instance_and_comes_after_it() -> None:
    """bgpd would keep its socket, and crash at the next connection."""
    steps = plan(_rendered(V8_4, 65010), _rendered(V8_4))
    summaries = [step.summary for step in steps]
    gone, come = "remove BGP routes for the index", "add BGP routes for the index"
    assert summaries.index(gone) < summaries.index("remove BGP AS 65000")
    assert summaries.index("add BGP AS 65010") < summaries.index(come)
    (removal,) = (step for step in steps if step.summary == gone)
    assert removal.impact == "none"
    frr = FakeFrr()
    for wanted in (_rendered(V8_4), _rendered(V8_4, 65010), _rendered(V8_4, indexed=False)):
        for step in plan(wanted, frr.observe()):
            frr.apply(step)
        assert frr.observe() == wanted
