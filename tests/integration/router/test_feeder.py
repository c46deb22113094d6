"""The feeder on the whole router: its reports, and forwarding while it, VPP or zebra is dead.

::

    LAN host ── lan0 [router] wan0 ── BGP neighbor, 1,000 prefixes ── host
"""

from __future__ import annotations

import copy
import os
import re
import signal
from contextlib import closing
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.utils import floatToGoString

from appliance.config.load import parse_document
from appliance.dataplane.vpp import startup
from appliance.dataplane.vpp.compile import route_room
from appliance.errors import MillraceError
from appliance.state.commit_options import CommitOptions
from appliance.state.feeder import FEEDER, FeederState
from lab import addressing as at
from lab.traffic import Flow
from tests.live_lab import LiveLab, json_of, wait_until
from vpp_config.papi_client import PapiClient

pytestmark = [
    pytest.mark.integration,
    pytest.mark.root,
    pytest.mark.vpp,
    pytest.mark.parametrize("live", ["vpp"], indirect=True, scope="session"),
]

PREFIXES = len(at.WAN_PREFIXES_V4) + len(at.CORE_PREFIXES)
STATIC = "198.51.100.0/24"
_NEXT_HOP = str(at.WAN.far_v4.ip)


def _state(live: LiveLab) -> FeederState:
    return live.agent.state(FEEDER)


def _kill(live: LiveLab, name: str) -> None:
    """kill -9; the supervisor starts it again."""
    os.kill(int(live.supervisorctl("pid", name)), signal.SIGKILL)


def _flow(live: LiveLab, port: int) -> Flow:
    """Longer than any of these tests; ``stop`` ends it."""
    names = live.topology.namespaces
    return Flow(
        live.directory,
        sender=names.lan,
        receiver=names.wan_host,
        destination=str(at.WAN_HOST.far_v4.ip),
        pps=500,
        seconds=240,
        port=port,
    )


def _fib(live: LiveLab) -> set[str]:
    text = live.vppctl("show", "ip", "fib", "table", "0")
    return set(re.findall(r"^(\d+\.\d+\.\d+\.\d+/\d+)\s*$", text, re.MULTILINE))


def _document(live: LiveLab, *, static: bool = False, loopback: bool = False) -> dict[str, Any]:
    document: dict[str, Any] = copy.deepcopy(live.agent.config()["document"])
    document["routing"]["static"].pop(STATIC, None)
    document["interfaces"].pop("lo7", None)
    if static:
        document["routing"]["static"][STATIC] = {"next_hops": [{"address": _NEXT_HOP}]}
    if loopback:
        document["interfaces"]["lo7"] = {"type": "loopback", "addresses": ["198.51.107.1/32"]}
    return document


def _whole(live: LiveLab) -> bool:
    """VPP has all routes that FRR wants, and nothing is pending."""
    try:
        state = _state(live)
    except MillraceError:
        return False
    held = state.ipv4.in_vpp == state.ipv4.wanted >= PREFIXES and state.ipv6.in_vpp == state.ipv6.wanted
    return held and state.frr_told_all and state.vpp_swept and state.pending == state.ipv4.stale == 0


def _alarms(live: LiveLab) -> set[tuple[str, str]]:
    return {(one.kind, one.object) for one in live.agent.alarms().alarms}


def _differing(live: LiveLab) -> bool:
    return any(kind == "routes_differ" for kind, _ in _alarms(live))


@pytest.fixture(autouse=True)
def feeder_is_whole(live: LiveLab) -> None:
    """An earlier test may have killed something."""
    wait_until(lambda: _whole(live), timeout_s=120, what="a feeder that has given everything")


def test_linux_nl_is_not_there_and_the_feeder_tells_of_itself(live: LiveLab) -> None:
    assert "linux_nl_plugin" not in live.vppctl("show", "plugins")
    assert "linux_cp_plugin" in live.vppctl("show", "plugins")
    told = json_of(live.api.get("/state/feeder"))
    assert told["carrier"] == "feeder" and told["frr_connected"] and told["vpp_connected"]
    assert told["ipv4"]["in_vpp"] >= PREFIXES and told["refusals"] == {} and told["unsupported"] == {}
    parts = json_of(live.api.get("/state/health"))["parts"]
    assert parts["feeder"]["state"] == "up" and "routes in VPP" in parts["feeder"]["detail"]
    metrics = live.api.get(live.base_url + "/metrics").text
    assert f'millrace_feeder_routes_in_vpp{{family="ipv4"}} {float(told["ipv4"]["in_vpp"])}' in metrics
    assert 'millrace_feeder_up{to="vpp"} 1.0' in metrics


def test_the_agent_tells_it_how_many_routes_vpp_has_room_for(live: LiveLab) -> None:
    document = _document(live)
    live.agent.commit(document, CommitOptions(author="test"))
    most = _room(live, document)
    wait_until(lambda: _state(live).most_routes == most, timeout_s=60, what="the number")
    assert json_of(live.api.get("/state/feeder"))["most_routes"] == most
    metrics = live.api.get(live.base_url + "/metrics").text
    written = floatToGoString(most)  # type: ignore[no-untyped-call]  # it has no annotations
    assert f"millrace_feeder_routes_most {written}" in metrics


def test_access_lists_take_their_room_before_they_are_bound_and_give_it_back(live: LiveLab) -> None:
    document = _document(live)
    live.agent.commit(document, CommitOptions(author="test"))
    most = _room(live, document)
    wait_until(lambda: _state(live).most_routes == most, timeout_s=60, what="the number")
    rules: dict[str, Any] = {str(number): {"action": "permit"} for number in range(1, 20_001)}
    rules["30000"] = {"action": "permit", "family": "ipv6"}
    bound = copy.deepcopy(document)
    bound.setdefault("acls", {})["many"] = {"rules": rules}
    for interface in bound["interfaces"].values():
        interface["acl_in"] = interface["acl_out"] = ["many"]
    live.agent.commit(bound, CommitOptions(author="test"))
    fewer = _room(live, bound)
    assert fewer < most - 130_000 and _state(live).most_routes == fewer
    live.agent.commit(document, CommitOptions(author="test"))
    assert _state(live).most_routes == most


def _room(live: LiveLab, document: dict[str, Any]) -> int:
    settings = startup.read((live.directory / "vpp-startup.conf").read_text())
    most = route_room(parse_document(document), settings).most
    assert most is not None
    return most


def test_a_feeder_that_dies_loses_no_packet_and_sweeps_what_went_meanwhile(live: LiveLab) -> None:
    live.agent.commit(_document(live, static=True), CommitOptions(author="test"))
    wait_until(lambda: STATIC in _fib(live), timeout_s=30, what="the static route in VPP")
    with _flow(live, 7211) as flow:
        _kill(live, "feeder")
        live.supervisorctl("stop", "feeder")
        try:
            live.agent.commit(_document(live), CommitOptions(author="test"))
            assert STATIC in _fib(live), "nobody can have taken it out"
            # After a slow check the next one follows a minute later.
            wait_until(lambda: ("part_down", "feeder") in _alarms(live), timeout_s=120, what="the alarm")
        finally:
            live.supervisorctl("start", "feeder")
        wait_until(lambda: _whole(live), timeout_s=60, what="a feeder that has given everything")
        assert STATIC not in _fib(live)
        result = flow.stop()
    assert (result.lost, result.send_errors) == (0, 0)
    assert len(_fib(live)) >= PREFIXES


def test_a_zebra_that_dies_takes_no_route_out_of_vpp(live: LiveLab) -> None:
    before = _state(live)
    _kill(live, "zebra")
    wait_until(lambda: not _whole(live), timeout_s=60, what="the feeder hearing of it")
    assert len(_fib(live)) >= PREFIXES
    wait_until(lambda: _whole(live), timeout_s=120, what="zebra telling everything again")
    assert _state(live).withdrawn == before.withdrawn
    assert len(_fib(live)) >= PREFIXES


def test_a_vpp_that_dies_gets_everything_again(live: LiveLab) -> None:
    before = _fib(live)
    uptime_s = _state(live).uptime_s
    _kill(live, "vpp")
    wait_until(lambda: not _whole(live), timeout_s=60, what="the feeder noticing")
    wait_until(lambda: _whole(live), timeout_s=120, what="everything in the new VPP")
    assert _state(live).uptime_s >= uptime_s, "the feeder itself went on"
    wait_until(lambda: _fib(live) == before, timeout_s=60, what="the same prefixes as before")
    with _flow(live, 7212) as flow:
        wait_until(lambda: flow.stop().received > 0, timeout_s=10, what="packets through the new VPP")


def test_a_route_that_vpp_lost_is_given_again_and_the_log_says_so(live: LiveLab) -> None:
    lost = str(at.WAN_HOST_PREFIX_V4)
    with closing(PapiClient(Path(live.environment["VPP_API_SOCKET"]))) as vpp:
        vpp.connect()
        route: dict[str, Any] = {"table_id": 0, "prefix": ip_network(lost), "n_paths": 0, "paths": []}
        vpp.call("ip_route_add_del", is_add=False, is_multipath=False, route=route)
    assert lost not in _fib(live)
    # Without help it is found within minutes; a route that somebody views is checked again at once.
    (seen,) = json_of(live.api.get("/state/routes", params={"prefix": lost}))["routes"]
    assert seen["disagreement"] == f"the data plane has no route for {lost}"
    wait_until(lambda: lost in _fib(live), timeout_s=120, what="the feeder giving the route again")
    wait_until(lambda: not _differing(live), timeout_s=150, what="the end of the alarm, if there was one")
    said = [line for line in (live.directory / "log/agent.log").read_text().splitlines() if lost in line]
    assert f"VPP is told of {lost} again: the data plane has no route for {lost}" in said[-1]


def test_an_interface_leaves_only_when_its_routes_have(live: LiveLab) -> None:
    """Without the feeder that is unknown: the commit is refused with this reason, and nothing is changed."""
    live.agent.commit(_document(live, loopback=True), CommitOptions(author="test"))
    live.supervisorctl("stop", "feeder")
    try:
        with pytest.raises(MillraceError, match="the routes over lo7 cannot be taken out of VPP"):
            live.agent.commit(_document(live), CommitOptions(author="test"))
        assert "lo7" in live.agent.config()["document"]["interfaces"]
    finally:
        live.supervisorctl("start", "feeder")
    wait_until(lambda: _whole(live), timeout_s=60, what="a feeder that has given everything")
    live.agent.commit(_document(live), CommitOptions(author="test"))
    wait_until(lambda: "198.51.107.1/32" not in _fib(live), timeout_s=30, what="the loopback leaving VPP")
