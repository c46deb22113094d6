"""A route lost in VPP raises an alarm. With linux_nl it does not come back, so this test is the last."""

from __future__ import annotations

from contextlib import closing
from ipaddress import ip_network
from pathlib import Path

import pytest

from lab import addressing as at
from tests.live_lab import LiveLab, json_of, wait_until
from vpp_config.papi_client import PapiClient

pytestmark = [
    pytest.mark.integration,
    pytest.mark.root,
    pytest.mark.vpp,
    pytest.mark.parametrize("live", ["vpp-nl"], indirect=True, scope="session"),
]

PREFIX = str(at.WAN_HOST_PREFIX_V4)


def _take_from_vpp(live: LiveLab, prefix: str) -> None:
    """Delete the route as linux_nl would; linux_nl continues to believe that VPP has it."""
    with closing(PapiClient(Path(live.environment["VPP_API_SOCKET"]))) as vpp:
        vpp.connect()
        sources = {found.src.name: found.src.id for found in vpp.dump("fib_source_dump")}
        source = sources["lcp-rt-dynamic"]
        route = {"table_id": 0, "prefix": ip_network(prefix), "n_paths": 0, "src": source, "paths": []}
        vpp.call("ip_route_add_del_v2", is_add=False, is_multipath=False, route=route)


def test_a_route_that_vpp_has_not_is_an_alarm(live: LiveLab) -> None:
    (route,) = json_of(live.api.get("/state/routes", params={"prefix": PREFIX}))["routes"]
    assert route["consistent"], route
    _take_from_vpp(live, PREFIX)
    (lost,) = json_of(live.api.get("/state/routes", params={"prefix": PREFIX}))["routes"]
    assert lost["kernel"] and lost["disagreement"] == f"the data plane has no route for {PREFIX}", lost

    def alarms() -> list[dict[str, object]]:
        found = json_of(live.api.get("/alarms"))["items"]
        return [one for one in found if one["kind"] == "routes_differ"]

    wait_until(alarms, timeout_s=240, what="the alarm")
    (one,) = alarms()
    assert one["severity"] == "major"
    assert one["evidence"] == {PREFIX: lost["disagreement"]}
