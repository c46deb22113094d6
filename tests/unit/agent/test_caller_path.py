"""A commit is confirmed by default when it touches the caller's own way to the router, and only then."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from appliance.agent.caller_path import CallerPath, Hop, Way, touches, way_of
from appliance.config.load import parse_document
from appliance.engine.own_path import Caller
from appliance.state.commit_options import CommitOptions
from tests.unit.engine.toys import commit, document, router

ME = ip_address("198.51.100.7")
HOST_GATEWAY = ip_address("192.0.2.1")
ON_LINK, ROUTED = Hop("mgmt0"), Hop("mgmt0", HOST_GATEWAY)
LAN = Hop("lan0.10")
NICS: dict[str, Any] = {
    "wan0": {"type": "ethernet", "match": {"device": "eth1"}, "addresses": ["203.0.113.2/30"]},
    "lan0": {"type": "ethernet", "match": {"device": "eth2"}},
    "lan0.10": {
        "type": "sub_interface", "parent": "lan0", "vlan_id": 10,
        "addresses": ["198.51.100.1/24"], "acl_in": ["lan-in"],
    },
    "core0": {"type": "ethernet", "match": {"device": "eth3"}, "addresses": ["192.0.2.1/24"]},
}  # fmt: skip
ACLS = {"lan-in": {"rules": {"10": {"action": "permit"}}}, "wan-in": {"rules": {"10": {"action": "deny"}}}}


@dataclass(frozen=True)
class Step:
    """A step, as the question sees it."""

    path: str
    impact: str = "none"
    phase: str = "create"
    summary: str = ""
    undo_summary: str = ""


def _config(**parts: Any) -> Any:
    return parse_document({"schema_version": 1, "interfaces": NICS, "acls": ACLS, **parts})


def _static(**routes: str) -> Any:
    routing = {"static": {prefix: {"next_hops": [{"address": hop}]} for prefix, hop in routes.items()}}
    return _config(routing=routing)


@pytest.mark.parametrize(
    ("host", "forwarded", "interfaces"),
    [
        (None, LAN, set()),
        (Hop("lo"), LAN, set()),
        (ON_LINK, LAN, set()),
        (ON_LINK, None, set()),
        (Hop("wan0"), None, {"wan0"}),
        (Hop("lan0.10"), None, {"lan0.10", "lan0"}),
        # This router is the gateway of its own management network.
        (ROUTED, Hop("wan0", ip_address("203.0.113.1")), {"core0", "wan0"}),
        # The caller's own network is one of ours, and the way there leads over somebody else's router.
        (Hop("mgmt0", ip_address("10.0.0.1")), LAN, {"lan0.10", "lan0"}),
        (Hop("mgmt0", ip_address("10.0.0.1")), Hop("wan0", ip_address("203.0.113.1")), set()),
        (Hop("mgmt0", ip_address("10.0.0.1")), Hop("vpp9"), set()),
        (ROUTED, None, set()),
    ],
)
def test_the_way_is_what_the_routes_say(
    host: Hop | None, forwarded: Hop | None, interfaces: set[str]
) -> None:
    assert way_of(host, forwarded, _config()).interfaces == interfaces


def test_the_way_over_a_vlan_on_a_bond_leads_over_the_members() -> None:
    vlan = {"type": "sub_interface", "parent": "bond0", "vlan_id": 9}
    config = _config(
        interfaces={
            "a": {"type": "ethernet", "match": {"device": "eth1"}},
            "b": {"type": "ethernet", "match": {"device": "eth2"}},
            "bond0": {"type": "bond", "members": ["a", "b"]},
            "bond0.9": vlan,
        }
    )
    assert way_of(Hop("bond0.9"), None, config).interfaces == {"a", "b", "bond0", "bond0.9"}


LAN_WAY = Way(frozenset({"lan0", "lan0.10"}), LAN)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Step("/interfaces/lan0.10/addresses"), "interface lan0.10"),
        (Step("/interfaces/lan0"), "interface lan0"),
        (Step("/acls/lan-in"), "access list lan-in"),
        (Step("/dataplane", "restarts vpp"), "it restarts vpp"),
        (Step("/interfaces/wan0"), None),
        (Step("/interfaces/lan0.100"), None),
        (Step("/acls/wan-in"), None),
        (Step("/system/hostname"), None),
        (Step("/routing/static/198.51.100.0~124"), None),
        (Step("/routing/bgp/neighbors/203.0.113.1", "resets 203.0.113.1"), None),
        (Step(""), None),
    ],
)
def test_only_what_is_on_the_way_touches_it(step: Step, said: str | None) -> None:
    found = touches(LAN_WAY, ME, [step], _config(), _config())
    assert (said is not None) == bool(found)
    assert said is None or said in found[0]
    assert touches(Way(), ME, [step], _config(), _config()) == ()


def test_an_access_list_that_the_commit_binds_or_unbinds_is_on_the_way() -> None:
    after = _config(interfaces={**NICS, "lan0.10": {**NICS["lan0.10"], "acl_in": ["wan-in"]}})
    assert touches(LAN_WAY, ME, [Step("/acls/wan-in")], _config(), after)
    assert touches(LAN_WAY, ME, [Step("/acls/lan-in")], _config(), after)


REMOTE = ip_address("100.64.9.9")
WAN_WAY = Way(frozenset({"core0", "wan0"}), Hop("wan0", ip_address("203.0.113.1"), "bgp"))
STATIC = [Step("/routing/static")]


@pytest.mark.parametrize(
    ("before", "after", "touched"),
    [
        ({"0.0.0.0/0": "203.0.113.1"}, {}, True),
        ({"0.0.0.0/0": "203.0.113.1"}, {"0.0.0.0/0": "192.0.2.9"}, True),
        ({"0.0.0.0/0": "203.0.113.1"}, {"0.0.0.0/0": "203.0.113.1", "10.0.0.0/8": "192.0.2.9"}, False),
        ({"0.0.0.0/0": "203.0.113.1"}, {"0.0.0.0/0": "203.0.113.1", "100.64.0.0/10": "192.0.2.9"}, True),
        ({"100.64.0.0/10": "203.0.113.1", "0.0.0.0/0": "192.0.2.9"}, {"100.64.0.0/10": "203.0.113.1"}, False),
    ],
)
def test_only_the_static_route_that_is_taken_is_on_the_way(
    before: dict[str, str], after: dict[str, str], touched: bool
) -> None:
    assert bool(touches(WAN_WAY, REMOTE, STATIC, _static(**before), _static(**after))) is touched


def test_a_static_route_beside_a_connected_network_is_not_on_the_way() -> None:
    assert not touches(LAN_WAY, ME, STATIC, _static(), _static(**{"0.0.0.0/0": "203.0.113.1"}))


def test_a_network_of_another_vrf_is_not_nearer_than_the_static_route() -> None:
    """Otherwise the commit would need no confirmation, and a user that it locks out would stay locked out."""
    lan: dict[str, Any] = {**NICS["lan0.10"], "addresses": [f"{REMOTE}/24"], "vrf": "blue"}
    routing = {"static": {"0.0.0.0/0": {"next_hops": [{"address": "203.0.113.1"}]}}}
    before = _config(vrfs={"blue": {}}, interfaces={**NICS, "lan0.10": lan}, routing=routing)
    after = _config(vrfs={"blue": {}}, interfaces={**NICS, "lan0.10": lan})
    assert touches(WAN_WAY, REMOTE, STATIC, before, after)


def test_routing_that_the_route_to_the_caller_is_learned_from_is_on_the_way() -> None:
    reset = Step("/routing/bgp/neighbors/203.0.113.1", "resets 203.0.113.1")
    assert touches(WAN_WAY, REMOTE, [reset], _config(), _config())
    assert not touches(WAN_WAY, REMOTE, [Step("/routing/ospf", "resets ospf")], _config(), _config())
    assert not touches(WAN_WAY, REMOTE, [Step("/routing/bgp", "none")], _config(), _config())


def test_where_the_kernel_cannot_say_nothing_is_claimed() -> None:
    path = CallerPath("no-such-namespace-here")
    try:
        steps = [Step("/interfaces/lan0.10")]
        assert path(Caller(ip_address("127.0.0.1")), steps, _config(), _config()) == ()
    finally:
        path.close()


# What the engine does with it.

CALLER = Caller(ME)


@pytest.mark.parametrize(
    ("confirm_s", "touched", "left_s"),
    [
        (None, True, 120),
        (None, False, None),
        (0, True, None),
        (30, True, 30),
        (30, False, 30),
        (0, False, None),
    ],
)
def test_the_timer_is_set_by_itself_unless_the_caller_says_otherwise(
    tmp_path: Path, confirm_s: float | None, touched: bool, left_s: float | None
) -> None:
    engine = router(tmp_path / "state").engine()
    commit(engine, document("203.0.113.0/24"))
    engine._committer.own_path = lambda *_: ("it cuts the branch",) if touched else ()
    wanted = document("100.64.0.0/10")
    assert engine.preview(wanted, CALLER).own_path == (("it cuts the branch",) if touched else ())
    result = commit(engine, wanted, confirm_s=confirm_s, caller_address=CALLER.address)
    pending = engine.pending_confirm()
    assert (pending["seconds_left"] if pending else None) == left_s
    why = "it cuts the branch" if touched and confirm_s is None else ""
    assert (result.confirm_reason, (pending or {"reason": ""})["reason"]) == (why, why)
    assert bool(result.confirm_expires_at) == (left_s is not None)


def test_nobody_at_the_console_is_cut_off(tmp_path: Path) -> None:
    engine = router(tmp_path / "state").engine()
    engine._committer.own_path = lambda *_: ("it cuts the branch",)
    commit(engine, document("203.0.113.0/24"))
    assert engine.pending_confirm() is None
    assert engine.rollback(0, CommitOptions(author="alice", caller_address=CALLER.address)).confirm_reason
    assert engine.revisions(1)[0].confirm_s == 120


def test_a_request_without_a_timer_is_kept_as_such(tmp_path: Path) -> None:
    engine = router(tmp_path / "state").engine()
    assert commit(engine, document(), confirm_s=0).confirm_expires_at is None
    assert engine.revisions(1)[0].confirm_s is None
