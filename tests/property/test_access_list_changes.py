"""Work reused from an access list's earlier state gives the same result as the list alone."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.features.acl import compared
from appliance.features.acl.evaluate import Placed, Rules, is_unconditional
from appliance.features.acl.model import Acl, AclRule
from appliance.features.acl.vpp import _acl, _rule
from tests.property.test_access_list_verdicts import LISTS, rules
from vpp_config import acl_codec

CHAINS = st.lists(LISTS, min_size=1, max_size=4)


def _sharing(before: Acl, after: Acl) -> Acl:
    """``after`` with the rules of ``before`` that are equal, as documents share them."""
    return Acl.model_construct(
        rules={
            number: before.rules[number] if before.rules.get(number) == rule else rule
            for number, rule in after.rules.items()
        }
    )


@settings(max_examples=200, deadline=None)
@given(chain=CHAINS)
def test_a_list_s_rules_are_its_own_whatever_the_list_was_before(chain: list[Acl]) -> None:
    before = chain[0]
    for wanted in chain:
        acl = _sharing(before, wanted)
        expected = [(number, acl.rules[number]) for number in sorted(acl.rules)]
        placed = Rules(("a",), {"a": acl}).placed
        assert placed == tuple(Placed("a", number, rule) for number, rule in expected)
        assert _acl("a", acl).rules == tuple(_rule(rule) for _, rule in expected)
        before = acl


@settings(max_examples=300, deadline=None)
@given(rule=rules())
def test_a_rule_in_vpp_s_words_survives_the_wire(rule: AclRule) -> None:
    compiled = _rule(rule)
    assert acl_codec.decode_rule(acl_codec.encode_rule(compiled)) == compiled


@settings(max_examples=300, deadline=None)
@given(rule=rules())
def test_a_rule_matches_everything_if_it_asks_for_nothing(rule: AclRule) -> None:
    compiled = _rule(rule)
    asks = compiled.source.prefixlen or compiled.destination.prefixlen or compiled.protocol
    assert is_unconditional(rule) == (not asks)


def _only_wider(before: Sequence[Placed], after: Sequence[Placed]) -> bool:
    was, now = ([(one.permits, one.rule) for one in rules] for rules in (before, after))
    return [one for one in was if one[0] or one in now] == [one for one in now if not one[0] or one in was]


@settings(max_examples=400, deadline=None)
@given(before=LISTS, after=LISTS, walks=st.sampled_from([0, 1, 8]), data=st.data())
def test_rules_that_only_let_more_pass(before: Acl, after: Acl, walks: int, data: st.DataObject) -> None:
    if data.draw(st.booleans()):
        # Mostly alike.
        kept = data.draw(st.sets(st.sampled_from(sorted(before.rules)))) if before.rules else set()
        after = Acl(rules={**{number: before.rules[number] for number in kept}, **after.rules})
    old, new = (Rules(("a",), {"a": acl}).placed for acl in (before, after))
    standard, compared._WALKS = compared._WALKS, walks
    try:
        assert compared._only_wider(old, new) == _only_wider(old, new)
    finally:
        compared._WALKS = standard
