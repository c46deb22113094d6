"""Which sessions close, and which routes change."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest

from appliance.agent.foretelling import _samples
from appliance.config.load import parse_document
from appliance.engine.backend import BackendUnavailable
from appliance.features.bgp.policy_effects import MOST_JUDGED, TABLES, Table
from appliance.features.bgp.sessions import SESSIONS
from appliance.impact.facts import Live
from appliance.routing.rows import FedPage, RibRow
from appliance.state.bgp import BgpState
from frr_config.protocols.bgp.routes import BgpEntry, BgpPath, Exchanged, TableSize
from tests.unit.impact.changes import INTERNAL, PEER, UP, found, kinds, result, session

AT = f"/routing/bgp/neighbors/{PEER}"


def _peer(**settings: Any) -> dict[str, Any]:
    return {"routing": {"bgp": {"neighbors": {PEER: settings}}}}


def _states(**of_peer: Any) -> dict[Any, object]:
    return {SESSIONS: BgpState(neighbors={PEER: session(**of_peer), INTERNAL: session(asn=65000)})}


@pytest.mark.parametrize(
    ("settings", "field", "words"),
    [
        ({"enabled": False}, "/enabled", "is shut down"),
        ({"password": "one"}, "/password", "once the neighbor has the same"),
        ({"remote_asn": 65009}, "/remote_asn", "cannot come up again, for the neighbor is in AS 65001"),
        ({"remote_asn": "external"}, "/remote_asn", "becomes external; it comes up again"),
        ({"ebgp_multihop": 3}, "/ebgp_multihop", "may be up to 3 hops away"),
        ({"ttl_security_hops": 1}, "/ttl_security_hops", "from at most 1 hop away"),
        ({"update_source": "lo1"}, "/update_source", "is set up from lo1"),
        ({"ipv6_unicast": {}}, "/ipv6_unicast", "IPv6 unicast is exchanged"),
        ({"passive": True}, "/passive", "who connects"),
    ],
)
def test_a_setting_that_both_ends_agree_on_closes_the_session(
    settings: dict[str, Any], field: str, words: str
) -> None:
    (finding,) = found(_peer(**settings))
    assert (finding.grade, finding.kind, finding.path) == ("certain", "session", AT + field)
    assert words in finding.text
    assert finding.evidence == "the session is Established, 1,000 IPv4 unicast prefixes received"
    assert found(_peer(**settings), facts=_states(state="Active")) == [], "it is down already"


def test_the_secret_is_not_told() -> None:
    assert "swordfish" not in result(_peer(password="swordfish")).model_dump_json()


@pytest.mark.parametrize("settings", [{"description": "x"}, {"connect_retry_s": 3}, {}])
def test_what_no_session_minds_is_not_found(settings: dict[str, Any]) -> None:
    assert found({**_peer(**settings), "system": {"hostname": "r2"}}) == []


def test_a_group_s_limit_counts_where_the_neighbor_has_none_and_its_own_goes_before() -> None:
    lower = {"routing": {"bgp": {"peer_groups": {"upstream": {"ipv4_unicast": {"maximum_prefix": 10}}}}}}
    assert kinds(found(lower)) == [("certain", "session", f"{AT}/ipv4_unicast/maximum_prefix")]
    own = _peer(ipv4_unicast={"maximum_prefix": 2000})
    assert found(lower, first=own) == []
    warn = {"routing": {"bgp": {"peer_groups": {"upstream": {"ipv4_unicast": {
        "maximum_prefix": 10, "maximum_prefix_warning_only": True}}}}}}  # fmt: skip
    assert found(warn) == []


@pytest.mark.parametrize(("limit", "is_found"), [(999, True), (1000, False), (1001, False)])
def test_a_limit_closes_above_it(limit: int, is_found: bool) -> None:
    assert bool(found(_peer(ipv4_unicast={"maximum_prefix": limit}))) == is_found


def test_a_lower_limit_without_a_count_is_possible() -> None:
    (finding,) = found(_peer(ipv4_unicast={"maximum_prefix": 10}), facts=_states(received=None))
    assert finding.grade == "possible"
    assert finding.depends_on == "the neighbor has sent more: how many is not known"


def test_removing_bgp_or_its_number_closes_every_session() -> None:
    for patch in ({"routing": {"bgp": None}}, {"routing": {"bgp": {"asn": 65555}}}):
        closed = [one for one in found(patch) if one.kind == "session"]
        assert [one.path.split("/")[4] for one in closed][:2] == [PEER, INTERNAL]
        assert {one.grade for one in closed} == {"certain"}


def test_the_way_to_a_neighbor_or_the_router_s_own_end_of_it() -> None:
    def sessions(patch: dict[str, Any]) -> list[str]:
        return [one.text for one in found(patch) if "BGP session" in one.text]

    (down,) = sessions({"interfaces": {"wan0": {"enabled": False}}})
    assert "192.0.2.0/30 on wan0, which the neighbor is on, is no longer connected" in down
    (moved,) = sessions({"interfaces": {"wan0": {"addresses": ["192.0.2.3/29"]}}})
    assert "wan0 loses 192.0.2.2, the router's end of it" in moved
    (source,) = sessions({"interfaces": {"lo1": {"addresses": ["10.255.0.9/32"]}}})
    assert INTERNAL in source and "lo1, which it is set up from, loses the address 10.255.0.1" in source
    assert sessions({"interfaces": {"wan0": {"addresses": ["192.0.2.2/30", "203.0.113.1/24"]}}}) == []


def test_policy_that_differs_may_change_routes_and_says_that_none_were_counted() -> None:
    rules = {"20": {"action": "permit", "prefix": "203.0.112.0/24"}}
    (finding,) = found({"routing": {"policy": {"prefix_lists": {"some": {"rules": rules}}}}})
    assert (finding.grade, finding.kind, finding.path) == ("possible", "routes", f"{AT}/ipv4_unicast")
    assert "route map in for routes received changes" in finding.text
    assert "were not counted" in finding.depends_on
    unused = {"routing": {"policy": {"prefix_lists": {"none": {"description": "nobody names it"}}}}}
    assert found(unused) == []


def test_a_list_that_permits_none_refuses_every_route() -> None:
    (finding,) = found(_peer(ipv4_unicast={"prefix_list_in": "none"}))
    assert (finding.grade, finding.kind) == ("certain", "routes")
    assert finding.text == f"Every IPv4 unicast route from {PEER} is refused: prefix list none permits none."


def test_a_list_that_refused_everything_before_is_no_news() -> None:
    refusing = _peer(ipv4_unicast={"prefix_list_in": "none"})
    (finding,) = found(_peer(ipv4_unicast={"prefix_list_out": "some"}), first=refusing)
    assert finding.grade == "possible"


def test_what_is_no_longer_announced() -> None:
    (finding,) = found({"routing": {"bgp": {"ipv4_unicast": {"networks": []}}}})
    assert (finding.grade, finding.kind) == ("possible", "routes")
    assert finding.text == "BGP no longer announces 10.10.0.0/24 to 2 neighbors."


def test_a_daemon_that_does_not_tell_makes_it_possible() -> None:
    facts = {fact: known for fact, known in UP.items() if fact is not SESSIONS}
    from appliance.config.load import parse_document
    from appliance.config.pointer import merge_patch
    from appliance.impact.analysis import foretell
    from appliance.impact.change import Change
    from appliance.impact.facts import ToldFacts
    from tests.unit.impact.changes import ROUTER

    after = parse_document(merge_patch(ROUTER, _peer(enabled=False)))
    answer = foretell(Change(parse_document(ROUTER), after, ToldFacts(facts)))
    (finding,) = answer.findings
    assert finding.grade == "possible"
    assert finding.depends_on == "the session is up now, which the router does not report"
    assert answer.not_looked_at == ("the state of BGP sessions: nobody told it",)


def test_an_interface_that_is_made_anew_takes_its_sessions_down() -> None:
    """VPP recreates an af_packet interface for a higher MTU."""
    mtu = {"interfaces": {"wan0": {"mtu": 9000}, "core0": {"description": "words"}}}
    assert found(mtu) == []
    findings = found(mtu, taken_down=frozenset({"wan0", "core0"}))
    ospf, internal, external = sorted(findings, key=lambda one: one.text)
    assert kinds([external]) == [("certain", "session", AT)]
    assert "wan0, which the neighbor is on, is recreated; it comes up again" in external.text
    assert (internal.grade, internal.depends_on) == (
        "possible",
        "it does not outlast the moment in which the interface is gone",
    )
    assert "the adjacency with 10.255.0.2: core0 is recreated" in ospf.text
    removed = found({"interfaces": {"wan0": None}}, taken_down=frozenset({"wan0"}))
    assert not any("is recreated" in one.text for one in removed)


def _route(prefix: str, *, neighbor: str = PEER, sent_to: tuple[str, ...] = (), **more: Any) -> BgpEntry:
    path = BgpPath(neighbor, as_path="65001", communities=(), is_best=True, **more)
    return BgpEntry(ip_network(prefix), frozenset(sent_to), (path,))


def _counting(*entries: BgpEntry, why_not: str = "") -> dict[Any, Any]:
    return {**UP, TABLES["ipv4_unicast"]: Table(tuple(entries), why_not)}


TAKEN = (
    _route("203.0.113.0/24", sent_to=(INTERNAL,)),
    _route("203.0.113.0/25", sent_to=(INTERNAL,)),
    _route("198.51.100.0/24", neighbor=INTERNAL, sent_to=(PEER,)),
)


def test_routes_that_new_rules_refuse_are_counted_and_named() -> None:
    rules = {"10": {"action": "permit", "prefix": "203.0.113.0/25"}}
    patch = {"routing": {"policy": {"prefix_lists": {"some": {"rules": rules}}}}}
    certain, possible = found(patch, facts=_counting(*TAKEN))
    assert (certain.grade, certain.kind, certain.path) == ("certain", "routes", f"{AT}/ipv4_unicast")
    assert certain.text == (
        f"1 of 2 IPv4 unicast routes from {PEER} are refused by the new rules: 203.0.113.0/24."
    )
    refused = "some of the routes that were refused until now pass: FRR does not report them"
    assert possible.depends_on == refused


def test_prefixes_that_new_rules_withdraw_or_add_are_counted() -> None:
    own = {"own": {"rules": {"10": {"action": "permit", "prefix": "192.0.2.0/24", "le": 32}}}}
    entries = (*TAKEN, _route("10.10.0.0/24", neighbor="", sent_to=(PEER, INTERNAL)))
    patch = _peer(ipv4_unicast={"prefix_list_out": "own"})
    patch["routing"]["policy"] = {"prefix_lists": own}
    (withdrawn,) = found(patch, facts=_counting(*entries))
    assert withdrawn.grade == "certain"
    assert withdrawn.text == (
        f"2 of 2 IPv4 unicast routes sent to {PEER} are withdrawn by the new rules: "
        "198.51.100.0/24, 10.10.0.0/24."
    )
    # The reverse change: both routes that are not sent now pass. It is not known whether something else holds
    # them back.
    kept = [replace(entry, advertised_to=entry.advertised_to - {PEER}) for entry in entries]
    back = {"routing": {"policy": {"prefix_lists": {"own": {"rules": {"10": {"prefix": "0.0.0.0/0"}}}}}}}
    (possible,) = found(back, facts=_counting(*kept), first=patch)
    assert possible.grade == "possible" and "2 that are not sent now pass the new rules." in possible.text
    assert possible.depends_on == "nothing else holds the new ones back"


def _sends_own_prefixes() -> dict[str, Any]:
    """The neighbor is sent what a prefix list permits, by a route map."""
    patch = _peer(ipv4_unicast={"route_map_out": "lout"})
    own = {"own": {"rules": {"10": {"action": "permit", "prefix": "192.0.2.0/24", "le": 32}}}}
    rule = {"action": "permit", "match": {"prefix_list": "own"}}
    patch["routing"]["policy"] = {
        "prefix_lists": own,
        "route_maps": {"lout": {"rules": {"10": rule, "20": {"action": "deny"}}}},
    }
    return patch


def _rule_5(**rule: Any) -> dict[str, Any]:
    return {"routing": {"policy": {"route_maps": {"lout": {"rules": {"5": rule}}}}}}


def test_a_condition_that_cannot_be_evaluated_may_let_more_be_sent() -> None:
    kept = [replace(entry, advertised_to=entry.advertised_to - {PEER}) for entry in TAKEN]
    (possible,) = found(
        _rule_5(action="permit", match={"tag": 7}), facts=_counting(*kept), first=_sends_own_prefixes()
    )
    assert (
        possible.grade == "possible" and "that are not sent now perhaps pass the new rules." in possible.text
    )
    assert "routes that are not sent now decide it" in possible.depends_on
    denied = _rule_5(action="deny", match={"tag": 7})
    assert found(denied, facts=_counting(*kept), first=_sends_own_prefixes()) == [], "it sends nothing more"


def test_a_condition_that_could_not_be_evaluated_before_either_is_no_news() -> None:
    kept = [replace(entry, advertised_to=entry.advertised_to - {PEER}) for entry in TAKEN]
    first = _sends_own_prefixes()
    first["routing"]["policy"]["route_maps"]["lout"]["rules"]["5"] = {"action": "permit", "match": {"tag": 7}}
    patch = {"routing": {"policy": {"route_maps": {"lout": {"rules": {"30": {"action": "deny"}}}}}}}
    assert found(patch, facts=_counting(*kept), first=first) == []


def test_rules_that_change_nothing_of_what_is_sent_are_no_finding() -> None:
    wide = {"all": {"rules": {"10": {"action": "permit", "prefix": "0.0.0.0/0", "le": 32}}}}
    patch = _peer(ipv4_unicast={"prefix_list_out": "all"})
    patch["routing"]["policy"] = {"prefix_lists": wide}
    assert found(patch, facts=_counting(*TAKEN)) == []


def test_other_attributes_of_routes_that_stay_are_counted() -> None:
    rules = {"10": {"set": {"local_preference": 200}}}
    patch = {"routing": {"policy": {"route_maps": {"in": {"rules": rules}}}}}
    (possible,) = found(patch, facts=_counting(TAKEN[0], _route("203.0.113.0/24"), TAKEN[2]))
    assert possible.grade == "possible" and "2 get other attributes." in possible.text
    assert possible.depends_on.startswith("the new attributes change which route is the best")


def test_what_the_old_rules_may_have_set_is_not_taken_for_what_was_received() -> None:
    setting = {"10": {"set": {"communities": ["65000:1"]}}}
    sets = {"routing": {"policy": {"route_maps": {"in": {"rules": setting}}}}}
    lists = {"gold": {"rules": {"10": {"action": "permit", "communities": ["65000:1"]}}}}
    rules = {"10": {"set": {"communities": []}, "match": {"community_list": "gold"}}}
    patch = {"routing": {"policy": {"community_lists": lists, "route_maps": {"in": {"rules": rules}}}}}
    only = _counting(_route("203.0.113.0/24"))
    (possible,) = found(patch, facts=only, first=sets)
    assert possible.grade == "possible" and "attributes of 1 route decide" in possible.depends_on


def test_of_many_routes_some_are_judged_and_that_is_said() -> None:
    many = [_route(f"203.0.{at >> 8}.{at & 255}/32") for at in range(3 * MOST_JUDGED)]
    none = {"10": {"action": "permit", "prefix": "192.0.2.0/24"}}
    patch = {"routing": {"policy": {"prefix_lists": {"some": {"rules": none}}}}}
    certain, possible = found(patch, facts=_counting(*many))
    assert certain.text.startswith("2,000 of the 2,000 examined of 6,000 IPv4 unicast routes from")
    assert "and 1,995 more." in certain.text
    assert "some of 4,000 routes not examined change" in possible.depends_on


def test_some_of_a_table_too_long_to_be_listed_are_judged_by_their_prefixes() -> None:
    none = {"10": {"action": "permit", "prefix": "203.0.0.0/25", "le": 32}}
    patch = {"routing": {"policy": {"prefix_lists": {"some": {"rules": none}}}}}
    some = [_route(f"203.0.{at}.0/24") for at in range(4)] + [_route("203.0.0.0/32")]
    size = TableSize(received=900_000, neighbors={PEER: Exchanged(True, False, 900_000, 0)})
    facts = {**UP, TABLES["ipv4_unicast"]: Table(tuple(some), sample_of=size)}
    certain, possible = found(patch, facts=facts)
    assert certain.text.startswith(
        f"4 of the 5 examined of 900,000 IPv4 unicast routes from {PEER} are refused"
    )
    assert "some of 899,995 routes not examined change" in possible.depends_on
    # Nothing of the sample is this neighbor's.
    facts[TABLES["ipv4_unicast"]] = Table((_route("203.0.9.0/24", neighbor=INTERNAL),), sample_of=size)
    (possible,) = found(patch, facts=facts)
    assert possible.depends_on.endswith("none of the 1 routes that were looked at is exchanged with it")


class _LongTable:
    """A feeder's lists of a million routes."""

    def __init__(self, total: int) -> None:
        self.total, self.asked = total, []  # type: tuple[int, list[int]]

    def route_page(self, _family: Any, query: Any, offset: int, limit: int, table: int) -> FedPage:
        assert (query.protocol, table) == ("bgp", 0)
        self.asked.append(offset)
        there = range(offset, min(offset + limit, self.total))
        return FedPage(
            self.total, [RibRow(f"16.{at >> 16}.{at >> 8 & 255}.{at & 255}/32", "bgp") for at in there]
        )


@pytest.mark.parametrize(("total", "prefixes", "pages"), [(1_000_000, 200, 25), (20, 20, 3), (0, 0, 1)])
def test_a_sample_is_taken_at_equal_distances(total: int, prefixes: int, pages: int) -> None:
    table: Any = _LongTable(total)
    found_there = _samples(table, parse_document({}), "ipv4", "")
    assert len(set(found_there)) == len(found_there) == prefixes
    assert len(table.asked) == pages
    assert all(offset < total or not total for offset in table.asked)


def test_a_vrf_that_only_frr_has_gives_no_sample() -> None:
    table: Any = _LongTable(1_000_000)
    assert _samples(table, parse_document({}), "ipv4", "blue") == ()
    assert not table.asked


def test_a_long_table_is_read_by_the_sample_and_without_one_not_at_all() -> None:
    class _Frr:
        def ask(self, question: Any) -> Any:
            return question(self)

        def bgp_summary(self) -> Any:
            return {"ipv4Unicast": {"as": 65000, "ribCount": 10**6, "peers": {PEER: {"pfxRcd": 900_000}}}}

        vrf_words = ""

        def json(self, _daemon: str, command: str) -> Any:
            path = {"peer": {"peerId": PEER}, "valid": True, "bestpath": {"overall": True}}
            return {"prefix": command.split()[4], "paths": [path]} if "203.0.113.0/24" in command else {}

    routing: Any = _Frr()
    dataplane: Any = None
    read = TABLES["ipv4_unicast"].read
    taken = read(Live(dataplane, routing, lambda *_: ["203.0.113.0/24", "198.51.100.0/24"]))
    assert [str(one.network) for one in taken.entries] == ["203.0.113.0/24"]
    assert taken.held(PEER, "received") == 900_000
    assert read(Live(dataplane, routing)).why_not == "BGP's table is too long to be listed"

    def gone(*_: Any) -> list[str]:
        raise BackendUnavailable("feeder", "is gone")

    assert read(Live(dataplane, routing, gone)).why_not == "BGP's table is too long to be listed"


def test_a_table_that_is_too_long_is_said_to_be_not_counted() -> None:
    rules = {"10": {"action": "permit", "prefix": "192.0.2.0/24"}}
    patch = {"routing": {"policy": {"prefix_lists": {"some": {"rules": rules}}}}}
    (possible,) = found(patch, facts=_counting(why_not="BGP's table is too long to be listed"))
    assert possible.depends_on.endswith("were not counted, because BGP's table is too long to be listed")
