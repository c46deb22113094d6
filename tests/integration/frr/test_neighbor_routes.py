"""Routes of a BGP neighbor and the OSPF database: what FRR says, read alike from the recording and from FRR.

::

    FRR, AS 65000   d0 10.9.0.1 --- 10.9.0.2   BIRD, AS 65001   (BGP: four prefixes)
                    d1 10.9.1.1 --- 10.9.1.2                    (OSPF: three external routes)
                    d2 10.9.2.1                                 (OSPF area 0.0.0.7)
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from ipaddress import IPv4Address, ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest

from appliance.config.document import RouterConfig
from appliance.errors import NotFound
from appliance.features.bgp.neighbor_routes import neighbor_routes
from appliance.features.ospf.database import ospf_database
from appliance.routing.frr import FrrBackend
from appliance.state.bgp_routes import BgpRoute, BgpRoutes, BgpRoutesQuery
from appliance.state.ospf_database import OspfDatabase, OspfDatabaseQuery
from frr_config import FakeFrr, FrrClient
from frr_config.protocols.bgp.routes import entry, kept, size, table
from frr_config.protocols.ospf.database import counts, details, lsas
from tests.integration.frr.bird_neighbor import BirdNeighbor, bird_installed
from tests.integration.frr.conftest import configure
from tests.integration.frr.harness import FrrHarness, frr_installed, wait_until
from tests.recorded_frr import PEER, ROUTING, RecordedFrr, record

RECORDING = "bgp_and_ospf_8_4"
BIRD = """log stderr all;
router id 10.255.0.2;
protocol device { scan time 10; }
protocol static announced {
  ipv4;
  route 203.0.113.0/24 blackhole {
    bgp_community.add((65001,100)); bgp_community.add((65535,666)); bgp_community.add((65535,65281));
    bgp_large_community.add((65001,1,2)); bgp_ext_community.add((rt,65001,7));
  };
  route 203.0.112.0/24 blackhole { bgp_path.prepend(64512); bgp_path.prepend(64513); };
  route 203.0.0.0/16 blackhole { bgp_community.add((65535,65282)); };
  route 10.0.0.0/8 blackhole;
  route 192.0.2.0/24 blackhole { bgp_path.prepend(65000); };
}
protocol static outside {
  ipv4;
  route 198.51.100.0/24 blackhole;
  route 198.51.101.0/24 blackhole;
  route 198.51.100.128/25 blackhole;
}
protocol bgp near {
  local as 65001;
  neighbor 10.9.0.1 as 65000;
  source address 10.9.0.2;
  connect retry time 1; connect delay time 1; error wait time 1, 2;
  allow local as 3;
  ipv4 {
    import all;
    export filter { if proto != "announced" then reject; bgp_med = 50; accept; };
    next hop self;
  };
}
protocol ospf v2 {
  ipv4 {
    import none;
    export filter { if proto != "outside" then reject; ospf_metric2 = 20; accept; };
  };
  area 0 { interface "d1" { type ptp; hello 1; dead 4; }; };
}
"""
COMMANDS = (
    "bgpd: show bgp summary json",
    "bgpd: show bgp ipv4 unicast json detail",
    f"bgpd: show bgp ipv4 unicast neighbors {PEER} received-routes json",
    *(
        f"bgpd: show bgp ipv4 unicast {asked} json"
        for asked in ("203.0.113.0/24", "203.0.113.9", "203.0.112.0/24", "203.0.0.0/16", "10.0.0.0/8")
    ),
    "bgpd: show bgp ipv4 unicast 198.18.0.0/24 json",
    "bgpd: show bgp ipv4 unicast 100.64.0.1 json",
    "ospfd: show ip ospf json",
    "ospfd: show ip ospf database json",
    "ospfd: show ip ospf database router 10.255.0.1 json",
    "ospfd: show ip ospf database router 10.255.0.2 json",
    *(
        f"ospfd: show ip ospf database external {lsa} json"
        for lsa in ("198.51.100.128", "198.51.100.255", "198.51.101.0", "198.51.102.0")
    ),
    "ospfd: show ip ospf database summary 10.9.1.0 json",
    "ospfd: show ip ospf database summary 10.9.2.0 json",
    "ospfd: show ip ospf database asbr-summary 10.255.0.2 json",
)
CONFIG = RouterConfig.model_validate(
    {
        "schema_version": 1,
        "interfaces": {f"d{at}": {"type": "loopback"} for at in range(3)},
        "routing": ROUTING,
    }
)


class NotExchanged(AssertionError):
    """What the peers said when the routes were not exchanged in time."""


@contextmanager
def real_frr(name: str) -> Iterator[FrrClient]:
    """FRR with everything exchanged. Peers that do not find each other are started once more, with a warning
    that says what they showed: these tests are about reading, and a lost start has been seen once.
    """
    with ExitStack() as stack:
        try:
            client = stack.enter_context(_peers(name))
        except NotExchanged as error:
            warnings.warn(f"FRR and BIRD were started twice: {error}", stacklevel=2)
            client = stack.enter_context(_peers(f"{name}r"))
        yield client


@contextmanager
def _peers(name: str) -> Iterator[FrrClient]:
    with (
        tempfile.TemporaryDirectory() as directory,
        FrrHarness(name, name) as near,
        BirdNeighbor(f"{name}b", Path(directory), BIRD) as bird,
    ):
        for at in range(2):
            near.add_link(f"d{at}", f"10.9.{at}.1/24", peer=(bird.netns, f"d{at}"))
            bird.add_address(f"d{at}", f"10.9.{at}.2/24")
        near.add_link("d2", "10.9.2.1/24")
        wait_until(
            lambda: near.vtysh("show ip route connected").count("is directly connected") == 3, "the links"
        )
        client = near.client()
        configure(client, ROUTING)
        bird.start()
        try:
            wait_until(lambda: len(list(kept(client, "ipv4", ip_address(PEER)))) == 5, "the routes", 60)
            wait_until(lambda: size(client, "ipv4").neighbors[PEER].sent == 2, "what is advertised", 60)
            wait_until(lambda: len(list(lsas(client))) == 9, "the link state database", 60)
        except AssertionError as error:
            shown = near.vtysh("show bgp summary", "show bgp nexthop", "show ip nht", "show ip ospf neighbor")
            raise NotExchanged(f"{error}\n{bird.seen()}\n{shown}") from error
        yield client


@pytest.fixture(
    scope="module",
    params=["recorded", pytest.param("real", marks=(pytest.mark.root, pytest.mark.timeout(480)))],
)
def frr(request: pytest.FixtureRequest) -> Iterator[FrrClient | RecordedFrr]:
    if request.param == "recorded":
        yield RecordedFrr(RECORDING)
        return
    if not frr_installed() or not bird_installed() or os.geteuid():
        pytest.skip(
            "FRRouting and BIRD have to be installed (Debian packages frr and bird2), and root runs them"
        )
    with real_frr(f"fn{os.getpid() % 100000}") as client:
        yield client


@pytest.fixture
def routing(frr: FrrClient | FakeFrr) -> FrrBackend:
    """New for each test: nothing is remembered."""
    return FrrBackend("nowhere", Path("nowhere"), Path("nowhere"), client=frr)


def _ask(routing: FrrBackend, direction: str, **query: Any) -> BgpRoutes:
    asked = BgpRoutesQuery.model_validate({"address": PEER, "direction": direction, **query})
    return neighbor_routes(CONFIG, routing, asked)


def _by_prefix(answer: BgpRoutes) -> dict[str, BgpRoute]:
    return {route.prefix: route for route in answer.routes}


def test_received_routes_have_their_attributes_and_the_rule_that_decides(routing: FrrBackend) -> None:
    answer = _ask(routing, "received")
    assert (answer.established, answer.prefixes, answer.keeps_refused, answer.note) == (True, 3, True, "")
    assert (answer.prefix_list, answer.route_map, answer.attributes) == ("no-private", "in", "after policy")
    known = _by_prefix(answer)
    assert {
        prefix: (route.status, route.policy.verdict, route.policy.rule) for prefix, route in known.items()
    } == {
        "10.0.0.0/8": ("refused", "deny", "prefix list no-private, rule 10"),
        "192.0.2.0/24": ("refused", "permit", "route map in, rule 10 or route map in, rule 20"),
        "203.0.0.0/16": ("accepted", "permit", "route map in, rule 20"),
        "203.0.112.0/24": ("accepted", "permit", "route map in, rule 20"),
        "203.0.113.0/24": ("accepted", "permit", "route map in, rule 10"),
    }
    route = known["203.0.113.0/24"]
    assert (route.next_hop, route.as_path, route.origin, route.med) == (PEER, "65001", "IGP", 50)
    assert (route.communities, route.large_communities) == (("65000:666",), ("65001:1:2",))
    assert (route.extended_communities, route.local_preference) == (("RT:65001:7",), 50)
    assert route.policy.changes == ("local preference 50", "communities 65000:666")
    assert (route.best, route.valid, route.remark) == (True, True, "")
    assert known["203.0.112.0/24"].as_path == "65001 64513 64512"
    looped = known["192.0.2.0/24"]
    assert looped.communities is None
    assert looped.remark == "FRR did not accept it: this router's AS 65000 is in its AS path."


def test_advertised_routes_are_told_with_the_rule_that_lets_them_pass(routing: FrrBackend) -> None:
    answer = _ask(routing, "advertised")
    assert (answer.prefixes, answer.total, answer.note, answer.attributes) == (2, 2, "", "before policy")
    known = _by_prefix(answer)
    assert {prefix: route.learned_from for prefix, route in known.items()} == {
        "198.18.0.0/24": "",
        "203.0.113.0/24": PEER,
    }
    own = known["198.18.0.0/24"]
    assert (own.as_path, own.next_hop, own.origin) == ("", None, "incomplete")
    assert own.policy.rule == "route map out, rule 10"
    assert own.policy.changes == ("MED 7", "AS path gets 65000 in front")


@pytest.mark.parametrize(
    ("prefix", "verdict", "remark"),
    [
        ("203.0.112.0/24", "deny", ""),
        ("203.0.0.0/16", "permit", "It has the community no-advertise, so FRR advertises it to nobody."),
    ],
)
def test_a_route_that_is_not_advertised_says_why(
    routing: FrrBackend, prefix: str, verdict: str, remark: str
) -> None:
    (route,) = _ask(routing, "advertised", prefix=prefix).routes
    assert (route.status, route.policy.verdict, route.remark) == ("not advertised", verdict, remark)
    if verdict == "deny":
        assert route.policy.rule == "prefix list all-but-112, rule 5"


@pytest.mark.parametrize(
    ("query", "prefixes"),
    [
        ({"prefix": "203.0.113.0/24"}, ["203.0.113.0/24"]),
        ({"prefix": "203.0.113.9"}, ["203.0.113.0/24"]),
        ({"prefix": "203.0.7.0/24", "longest": True}, ["203.0.0.0/16"]),
        ({"prefix": "10.1.2.3"}, ["10.0.0.0/8"]),
        ({"prefix": "203.0.112.0/20", "within": True}, ["203.0.112.0/24", "203.0.113.0/24"]),
        ({"community": "65000:666"}, ["203.0.113.0/24"]),
        ({"community": "65001:1:2"}, ["203.0.113.0/24"]),
        ({"community": "no-advertise"}, ["203.0.0.0/16"]),
        ({"community": "65535:65282"}, ["203.0.0.0/16"]),
        ({"asn": 64513}, ["203.0.112.0/24"]),
        ({"asn": 6451}, []),
        ({"limit": 2, "offset": 1}, ["192.0.2.0/24", "203.0.0.0/16"]),
        ({"prefix": "100.64.0.1"}, []),
    ],
)
def test_routes_are_searched(routing: FrrBackend, query: dict[str, Any], prefixes: list[str]) -> None:
    assert [route.prefix for route in _ask(routing, "received", **query).routes] == prefixes


def test_what_cannot_be_answered_is_said(routing: FrrBackend) -> None:
    assert "not exchanged" in _ask(routing, "received", family="ipv6").note
    disabled = BgpRoutesQuery(address="10.9.0.3", direction="received")
    assert neighbor_routes(CONFIG, routing, disabled).note == "The session is shut down on purpose."
    with pytest.raises(NotFound):
        neighbor_routes(CONFIG, routing, BgpRoutesQuery(address="10.9.0.4", direction="received"))
    assert "not among the routes" in _ask(routing, "received", prefix="203.0.99.0/24").note
    assert "no route 203.0.99.0/24 to advertise" in _ask(routing, "advertised", prefix="203.0.99.0/24").note
    assert "communities of refused routes" in _ask(routing, "received", community="65000:666").note


def test_one_prefix_and_the_list_say_the_same(frr: FrrClient | FakeFrr) -> None:
    listed = {one.network: one for one in table(frr, "ipv4")}
    for prefix in ("203.0.113.0/24", "203.0.112.0/24", "203.0.0.0/16", "198.18.0.0/24"):
        assert entry(frr, ip_network(prefix)) == listed[ip_network(prefix)]
    assert entry(frr, ip_address("203.0.113.9")) == listed[ip_network("203.0.113.0/24")]
    assert entry(frr, ip_network("10.0.0.0/8")) is None
    assert entry(frr, ip_address("100.64.0.1")) is None


def test_the_size_of_the_table_is_counted(frr: FrrClient | FakeFrr) -> None:
    known = size(frr, "ipv4")
    assert (known.received, known.sent) == (3, 2)
    assert known.neighbors[PEER].is_up and not known.neighbors[PEER].is_internal
    assert len(list(table(frr, "ipv4"))) <= known.nodes
    assert size(frr, "ipv6").neighbors == {}


def _database(routing: FrrBackend, **query: Any) -> OspfDatabase:
    return ospf_database(routing, OspfDatabaseQuery.model_validate(query))


def test_the_link_state_database_is_listed_with_lengths(routing: FrrBackend) -> None:
    answer = _database(routing)
    assert (answer.router_id, answer.total, answer.note) == ("10.255.0.1", 9, "")
    assert sum(one.lsas for one in answer.counts) == 9
    assert {
        (one.area, one.type, one.lsa_id, one.length_bytes, one.about, one.own) for one in answer.lsas
    } == {
        ("0.0.0.0", "router", "10.255.0.1", 48, "2 links", True),
        ("0.0.0.0", "router", "10.255.0.2", 48, "2 links", False),
        ("0.0.0.0", "summary", "10.9.2.0", 28, "10.9.2.0/24", True),
        ("0.0.0.7", "router", "10.255.0.1", 36, "1 link", True),
        ("0.0.0.7", "summary", "10.9.1.0", 28, "10.9.1.0/24", True),
        ("0.0.0.7", "asbr-summary", "10.255.0.2", 28, "", True),
        (None, "external", "198.51.100.128", 36, "198.51.100.128/25", False),
        (None, "external", "198.51.100.255", 36, "198.51.100.0/24", False),
        (None, "external", "198.51.101.0", 36, "198.51.101.0/24", False),
    }
    for one in answer.lsas:
        assert one.sequence is not None and int(one.sequence, 16) >= 0x80000001
        assert one.checksum is not None and int(one.checksum, 16) > 0
        assert one.age_s is not None and one.age_s >= 0


@pytest.mark.parametrize(
    ("query", "total"),
    [
        ({"type": "router"}, 3),
        ({"area": "0.0.0.7"}, 3),
        ({"advertising_router": "10.255.0.2"}, 4),
        ({"lsa_id": "10.255.0.2"}, 2),
        ({"type": "external", "limit": 1, "offset": 2}, 3),
        ({"type": "opaque-area"}, 0),
    ],
)
def test_the_database_is_searched(routing: FrrBackend, query: dict[str, Any], total: int) -> None:
    answer = _database(routing, **query)
    assert answer.total == total
    assert len(answer.lsas) == min(total, query.get("limit", 100), max(0, total - query.get("offset", 0)))


def test_one_lsa_is_told_with_its_body(routing: FrrBackend) -> None:
    (lsa,) = _database(routing, type="external", lsa_id="198.51.101.0").lsas
    assert (lsa.area, lsa.advertising_router, lsa.length_bytes, lsa.own) == (None, "10.255.0.2", 36, False)
    assert (lsa.detail["networkMask"], lsa.detail["metric"]) == (24, 20)
    here, there = _database(routing, type="router", lsa_id="10.255.0.1").lsas
    assert {(one.area, one.length_bytes) for one in (here, there)} == {("0.0.0.0", 48), ("0.0.0.7", 36)}
    (one,) = _database(routing, type="router", lsa_id="10.255.0.1", area="0.0.0.7").lsas
    assert one.detail["routerLinks"]["link0"]["networkAddress"] == "10.9.2.0"
    assert _database(routing, type="network", lsa_id="10.255.0.1").lsas == ()


def test_counts_are_those_of_the_list(frr: FrrClient | FakeFrr) -> None:
    listed = [(one.area, one.type) for one in lsas(frr)]
    assert {(one.area, one.type): one.lsas for one in counts(frr)[1]} == {
        key: listed.count(key) for key in set(listed)
    }
    assert details(frr, "external", IPv4Address("198.51.102.0")) == []


if __name__ == "__main__":
    with real_frr("fn-record") as found:
        record(RECORDING, {key: found.show(*key.split(": ", 1)) for key in COMMANDS})
