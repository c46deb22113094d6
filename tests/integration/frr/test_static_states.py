"""On real FRR and the kernel: which static routes are used, and that what is foretold and told of each is so.

::

    d0 10.9.0.1/24, d1 10.9.1.1/24, d2 10.9.2.1/24, d3 10.9.3.1/24 of one router; d3 goes down
"""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from appliance.config.load import parse_document
from appliance.config.validate import check
from appliance.features.static.impact import ANALYSES
from appliance.impact.analysis import foretell
from appliance.impact.change import Change
from appliance.impact.deadline import Deadline
from appliance.impact.facts import Live, LiveFacts
from appliance.impact.result import Finding
from appliance.liveness.keeper import Keeper
from appliance.routing import FrrBackend
from appliance.state.object_state import ObjectState
from frr_config import Routing
from tests.integration.frr.conftest import INTERFACES, configure
from tests.integration.frr.harness import FrrHarness, ip, wait_until

pytestmark = pytest.mark.root
FAR, BLACKHOLE = "172.16.9.9", {"blackhole": True}
ROUTES: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    # Prefix: next hops, state, why.
    "20.0.1.0/24": ([{"address": FAR}], "inactive", f"no route leads to {FAR}"),
    "20.0.2.0/24": ([{"address": "10.9.0.2"}], "working", ""),
    "20.0.3.0/24": ([{"address": "20.0.2.9"}], "working", ""),
    "20.0.4.0/24": ([{"address": "20.0.4.9"}], "inactive", "no route leads to 20.0.4.9"),
    "20.0.5.0/24": ([{"address": "10.9.0.2"}, {"address": FAR}], "partly", f"no route leads to {FAR}"),
    "20.0.6.0/24": ([{"address": "10.9.0.2"}, {"address": "10.9.1.2", "distance": 20}], "working", ""),
    "20.0.7.0/24": ([{"interface": "d2"}], "working", ""),
    "20.0.8.0/24": ([{"address": "20.0.1.9"}], "inactive", "no route leads to 20.0.1.9"),
    "20.0.9.0/24": ([], "working", ""),
    "20.0.10.0/24": ([{"address": "20.0.9.9"}], "inactive", "the route to 20.0.9.9 drops packets"),
    "20.0.11.0/24": ([{"address": "10.9.3.2", "interface": "d3"}], "working", ""),
    "20.0.12.0/24": ([{"address": "10.9.3.2"}], "working", ""),
    "0.0.0.0/0": ([{"address": "10.9.1.2"}], "working", ""),
    "2001:db8:a1::/48": ([{"address": "2001:db8:ffff::1"}], "inactive", "no route leads to 2001:db8:ffff::1"),
    "2001:db8:a3::/48": ([{"address": "2001:db8:9:0::2"}], "working", ""),
    "2001:db8:a4::/48": ([{"address": "fe80::1", "interface": "d0"}], "working", ""),
    "2001:db8:a6::/48": ([], "working", ""),
    "2001:db8:a7::/48": ([{"address": "2001:db8:a3::7"}], "working", ""),
}


def _document(routes: dict[str, Any], disabled: str = "", **routing: Any) -> RouterConfig:
    interfaces = {
        name: {
            "type": "ethernet",
            "match": {"device": f"nic-{name}"},
            "addresses": addresses,
            "enabled": name != disabled,
        }
        for name, addresses in INTERFACES.items()
    }
    return parse_document({"interfaces": interfaces, "routing": {"static": routes, **routing}})


def _route(hops: list[dict[str, Any]]) -> dict[str, Any]:
    return {"next_hops": hops} if hops else BLACKHOLE


EVERY = _document({prefix: _route(hops) for prefix, (hops, _, _) in ROUTES.items()})


class _Router:
    """What the agent asks."""

    def __init__(self, harness: FrrHarness) -> None:
        self.client = harness.client()
        self.routing = FrrBackend(harness.netns, harness.vty_dir, harness.config_dir, client=self.client)
        self.engine = SimpleNamespace(running_config=EVERY)
        self.netns = harness.netns
        self.now_s = 0.0
        self._keeper = Keeper(self, clock=lambda: self.now_s)  # type: ignore[arg-type]  # the parts it asks

    def states(self) -> dict[str, ObjectState]:
        """Read again."""
        self.now_s += 10
        return {one.name: one for one in self._keeper.of("static_route")}

    def kernel(self) -> dict[str, dict[str, Any]]:
        """Static routes of the kernel's tables."""
        found = {}
        for family in ("-4", "-6"):
            argv = ["ip", "-n", self.netns, "-j", family, "route", "show"]
            shown = subprocess.run(argv, check=True, capture_output=True, text=True, timeout=30).stdout
            # FRR's number of the protocol and the kernel's own have the same name.
            rows = json.loads(shown or "[]")
            found.update({one["dst"]: one for one in rows if one.get("protocol") == "static"})
        if "default" in found:
            found["0.0.0.0/0"] = found.pop("default")
        return found

    def foretold(self, before: RouterConfig, after: RouterConfig) -> list[Finding]:
        plane: Any = SimpleNamespace(interfaces_state=lambda: ())
        with ThreadPoolExecutor(1) as readers:
            facts = LiveFacts(Live(plane, self.routing), readers, Deadline(30))
            return list(foretell(Change(before, after, facts), ANALYSES).findings)


@pytest.fixture
def asked(empty_router: FrrHarness) -> _Router:
    return _Router(empty_router)


def _settled(asked: _Router, prefixes: set[str]) -> None:
    wait_until(lambda: prefixes <= asked.kernel().keys(), f"the kernel's routes to {prefixes}")


WORKS = {prefix for prefix, (_, state, _) in ROUTES.items() if state in ("working", "partly")}


def test_each_route_is_told_as_the_kernel_has_it(asked: _Router, router: FrrHarness) -> None:
    before = _document({})
    foretold = asked.foretold(before, EVERY)
    configure(asked.client, EVERY.routing)
    _settled(asked, WORKS)
    told = asked.states()
    assert {prefix: (one.state, one.why) for prefix, one in told.items()} == {
        prefix: (state, why) for prefix, (_, state, why) in ROUTES.items()
    }
    kernel = asked.kernel()
    for prefix, one in told.items():
        drops = kernel.get(prefix, {}).get("type") == "blackhole"
        assert (prefix in kernel and (not drops or EVERY.routing.static[prefix].blackhole)) == (
            one.state in ("working", "partly")
        ), prefix
    assert "172.16.9.9" not in json.dumps(kernel["20.0.5.0/24"])
    # What was foretold as certain is what FRR and the kernel do.
    text = "\n".join(one.text for one in foretold if one.grade == "certain")
    for prefix, (_, state, why) in ROUTES.items():
        nothing = f"to {prefix} forwards nothing: {why.replace('leads to', 'leads to its next hop')}."
        if state == "inactive" and "drops" not in why:
            assert nothing in text, (nothing, text)
        else:
            assert f"{prefix} forwards nothing" not in text
    assert "to 20.0.5.0/24 uses only its other paths" in text


def test_a_link_that_goes_takes_its_routes_with_it_and_they_come_back(
    asked: _Router, router: FrrHarness
) -> None:
    configure(asked.client, EVERY.routing)
    _settled(asked, WORKS)
    asked.states()
    ip("-n", router.netns, "link", "set", "d3", "down")
    try:
        wait_until(lambda: "20.0.12.0/24" not in asked.kernel(), "the routes by d3 leaving the kernel")
        wait_until(lambda: asked.states()["20.0.12.0/24"].state == "inactive", "the state of the route")
        told = asked.states()
        assert told["20.0.12.0/24"].why == "no route leads to 10.9.3.2"
        assert (told["20.0.11.0/24"].state, told["20.0.11.0/24"].why) == (
            "inactive",
            "d3 is down or has no link",
        )
        assert told["20.0.2.0/24"].state == "working"
    finally:
        ip("-n", router.netns, "link", "set", "d3", "up")
        ip("-n", router.netns, "address", "replace", INTERFACES["d3"][1], "dev", "d3", "nodad")
    wait_until(lambda: asked.states()["20.0.12.0/24"].state == "working", "the route by d3 again")


def test_a_connected_network_goes_before_a_static_route(asked: _Router) -> None:
    hidden = _document({"10.9.0.0/24": _route([{"address": "10.9.1.2"}])})
    asked.engine.running_config = hidden
    configure(asked.client, hidden.routing)
    wait_until(lambda: asked.states()["10.9.0.0/24"].state == "standby", "the static route standing by")
    assert asked.states()["10.9.0.0/24"].why.startswith("the connected route of the same prefix is preferred")
    assert asked.kernel() == {}


def test_a_broadcast_address_is_refused_because_the_kernel_takes_no_route_by_it(asked: _Router) -> None:
    for hop in ({"address": "10.9.0.255"}, {"address": "10.9.0.255", "interface": "d0"}):
        wrong = _document({"20.0.2.0/24": _route([hop]), "20.0.9.0/24": BLACKHOLE})
        (problem,) = check(wrong, Capabilities(driver="linux"))
        assert "is the broadcast address of 10.9.0.0/24 on d0" in problem.message
        asked.engine.running_config = wrong
        configure(asked.client, wrong.routing)
        _settled(asked, {"20.0.9.0/24"})
        wait_until(lambda: "the kernel does not take" in asked.states()["20.0.2.0/24"].why, "its state")
        assert "20.0.2.0/24" not in asked.kernel()
        configure(asked.client, Routing())
    # No host should have the first address of a network, but the kernel takes a route by it.
    first = _document({"20.0.2.0/24": _route([{"address": "10.9.0.0"}])})
    assert check(first, Capabilities(driver="linux")) == []
    asked.engine.running_config = first
    configure(asked.client, first.routing)
    _settled(asked, {"20.0.2.0/24"})
    assert asked.states()["20.0.2.0/24"].state == "working"


def test_with_a_protocol_the_router_is_asked_what_leads_to_a_next_hop(asked: _Router) -> None:
    bgp: dict[str, Any] = {"bgp": {"asn": 65000, "router_id": "10.9.0.1"}}
    routes = {"0.0.0.0/0": _route([{"address": "10.9.1.2"}])}
    before = _document(routes, **bgp)
    asked.engine.running_config = before
    configure(asked.client, before.routing)
    _settled(asked, {"0.0.0.0/0"})
    after = _document({**routes, "20.0.1.0/24": _route([{"address": FAR}])}, **bgp)
    (finding,) = asked.foretold(before, after)
    assert finding.grade == "possible" and "forwards nothing" in finding.text
    assert finding.depends_on.endswith("FRR does not resolve it by the default route")
    asked.engine.running_config = after
    configure(asked.client, after.routing)
    wait_until(lambda: asked.states()["20.0.1.0/24"].state == "inactive", "the state of the route")
    assert "20.0.1.0/24" not in asked.kernel()
