"""The objects that the packets of a bench pass, created in a fake VPP and removed again. With the real VPP:
`tests/integration/vpp_dataplane/test_benches.py`.
"""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from appliance.bench.load import Ends, loads
from vpp_config import AclRule, VppApiError, VppState, apply, observe, plan
from vpp_config.fake import FakeVpp

_ALL = 0xFFFFFFFF


def _loopback(vpp: FakeVpp, number: int) -> int:
    made = vpp.call("create_loopback_instance", user_instance=number, mac_address="00:00:00:00:00:00")
    return int(made.sw_if_index)


def _ends(vpp: FakeVpp) -> Ends:
    return Ends(7, (_loopback(vpp, 0), _loopback(vpp, 1)), "198.18.0.2", "198.19.0.1")


def _bound_by_another(vpp: FakeVpp) -> int:
    """An interface with an access list of the document."""
    anywhere = ip_network("0.0.0.0/0")
    everything = AclRule("permit", anywhere, anywhere)
    made = vpp.call("acl_add_replace", acl_index=_ALL, tag="edge", count=1, r=[everything])
    index = _loopback(vpp, 9)
    vpp.call("acl_interface_set_acl_list", sw_if_index=index, count=1, n_input=1, acls=[int(made.acl_index)])
    return index


def test_nat_goes_off_the_interfaces_before_it_is_switched_off() -> None:
    vpp, nat = FakeVpp(), loads()["nat"]
    ends = _ends(vpp)
    assert nat.against(vpp) == ""
    nat.put(vpp, 1_000, ends)
    assert vpp.call("nat44_show_running_config").sessions == 3_024
    assert "the configuration has NAT" in nat.against(vpp)
    del vpp.calls[:]
    nat.take_from(vpp, ends.indexes)
    assert [(one.name, one.fields.get("sw_if_index"), one.fields.get("flags")) for one in vpp.calls] == [
        ("nat44_interface_add_del_feature", ends.indexes[0], 0x20),
        ("nat44_interface_add_del_feature", ends.indexes[1], 0x10),
        ("nat44_ed_plugin_enable_disable", None, None),
    ]
    assert nat.against(vpp) == ""
    del vpp.calls[:]
    nat.take_from(vpp, ends.indexes)
    assert vpp.calls == []


def test_nat_of_others_stays() -> None:
    vpp, nat = FakeVpp(), loads()["nat"]
    ends, other = _ends(vpp), _loopback(vpp, 9)
    vpp.call("nat44_ed_plugin_enable_disable", enable=True, sessions=100)
    vpp.call("nat44_interface_add_del_feature", is_add=True, flags=0x20, sw_if_index=other)
    nat.take_from(vpp, ends.indexes)
    assert vpp.call("nat44_show_running_config").sessions == 100
    assert [row.sw_if_index for row in vpp.dump("nat44_interface_dump")] == [other]


@pytest.mark.parametrize("done", range(3))
def test_nat_of_an_agent_that_died_on_the_way_is_off_after_the_next_plan(done: int) -> None:
    """The agent died when VPP had NAT on none, one or two interfaces."""
    vpp, nat = FakeVpp(), loads()["nat"]
    ends = _ends(vpp)
    dead_at = "nat44_add_del_address_range" if done == 2 else "nat44_interface_add_del_feature"
    vpp.fail_next(dead_at, skip=done % 2)
    with pytest.raises(VppApiError):
        nat.put(vpp, 1_000, ends)
    assert len(vpp.dump("nat44_interface_dump")) == done
    # The next agent does this.
    nat.take_from(vpp, ends.indexes)
    for step in plan(VppState.of(()), observe(vpp)):
        apply(step, vpp)
    assert not vpp.call("nat44_show_running_config").sessions
    assert not vpp.dump("nat44_interface_dump")


def test_lists_of_a_bench_go_and_others_stay() -> None:
    vpp, acl = FakeVpp(), loads()["acl"]
    assert "no access list is bound" in acl.against(vpp)
    other, ends = _bound_by_another(vpp), _ends(vpp)
    assert acl.against(vpp) == ""
    acl.put(vpp, 600, ends)
    assert acl.remains(vpp) == 2
    rules = {row.tag: row.r for row in vpp.dump("acl_dump", acl_index=_ALL)}
    assert [len(rules[f"millrace-bench-{side}"]) for side in range(2)] == [600, 600]
    left, right = (rules[f"millrace-bench-{side}"][0] for side in range(2))
    assert str(left.source) == str(right.destination) == "16.0.0.0/32"
    acl.take_from(vpp, ends.indexes)
    assert acl.remains(vpp) == 0
    bound = {row.sw_if_index: row.acls for row in vpp.dump("acl_interface_list_dump", sw_if_index=_ALL)}
    assert [index for index, acls in bound.items() if acls] == [other]
    assert [row.tag for row in vpp.dump("acl_dump", acl_index=_ALL)] == ["edge"]


def test_without_its_plugin_a_load_is_refused_and_nothing_is_taken_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vpp = FakeVpp()
    monkeypatch.setattr(vpp, "supports", lambda _name: False)
    for name in ("acl", "nat"):
        assert loads()[name].against(vpp) == f"this VPP runs without its plugin {name}"
        loads()[name].take_from(vpp, (1, 2))
        assert loads()[name].remains(vpp) == 0
    assert vpp.calls == []
