"""Access list rules as text: written text can be read back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.config.load import parse_document
from webui.ui.rule_text import format_rule, parse

RULES: dict[str, dict[str, Any]] = {
    "10 deny icmp 10.10.0.2/32 any type 8 code 0 # no ping": {
        "action": "deny",
        "protocol": "icmp",
        "source": "10.10.0.2/32",
        "icmp_type": 8,
        "icmp_code": 0,
        "description": "no ping",
    },
    "20 permit_reflect tcp any 203.0.113.0/24 port 443": {
        "action": "permit_reflect",
        "protocol": "tcp",
        "destination": "203.0.113.0/24",
        "destination_ports": "443",
    },
    "30 permit ipv4 tcp any port 1024-65535 any flags +syn,-ack": {
        "action": "permit",
        "protocol": "tcp",
        "source_ports": "1024-65535",
        "tcp_flags": {"set": ["syn"], "unset": ["ack"]},
    },
    "40 permit ipv6 any any any": {"action": "permit", "family": "ipv6"},
    "50 permit ipv4 any any any": {"action": "permit"},
    "60 deny ipv6 icmpv6 2001:db8::/32 any type 128": {
        "action": "deny",
        "family": "ipv6",
        "protocol": "icmpv6",
        "source": "2001:db8::/32",
        "icmp_type": 128,
    },
    "70 permit 47 192.0.2.1/32 any": {"action": "permit", "protocol": "47", "source": "192.0.2.1/32"},
}


@pytest.mark.parametrize("line", RULES)
def test_a_line_reads_as_its_rule_and_is_written_the_same(line: str) -> None:
    pasted = parse(line)
    assert pasted.bad == []
    ((sequence, rule),) = pasted.rules.items()
    assert rule == RULES[line]
    assert format_rule(sequence, rule) == line
    parse_document({"acls": {"a": {"rules": pasted.rules}}})


def test_short_forms() -> None:
    pasted = parse(
        "permit any any\n\n# a comment\ndeny udp 192.0.2.1 any eq 53\npermit 10.0.0.0/8 any", after=40
    )
    assert pasted.bad == []
    assert list(pasted.rules) == ["50", "60", "70"]
    assert pasted.rules["60"]["source"] == "192.0.2.1/32"
    assert "protocol" not in pasted.rules["70"]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("allow any any", "allow"),
        ("permit", "ends before"),
        ("permit tcp any any port", "needs a value"),
        ("permit tpc any any", "no protocol"),
        ("permit any any any any", "already"),
        ("permit tcp any any colour red", "does not understand"),
        ("permit ipv4 2001:db8::/32 any", "ipv4 and 2001:db8::/32 (IPv6) are not of the same"),
        ("permit ipv6 any 10.0.0.0/8", "ipv6 and 10.0.0.0/8 (IPv4) are not of the same"),
        ("permit ipv4 icmpv6 any any", "ipv4 and icmpv6 (IPv6)"),
        ("permit icmp 2001:db8::/32 any type 8", "icmp (IPv4) and 2001:db8::/32 (IPv6)"),
        ("permit tcp 192.0.2.1 2001:db8::1 port 22", "192.0.2.1/32 (IPv4) and 2001:db8::1/128 (IPv6)"),
    ],
)
def test_what_is_no_rule_says_why(line: str, word: str) -> None:
    pasted = parse("permit any any any\n" + line)
    assert [bad.line for bad in pasted.bad] == [2]
    assert word in pasted.bad[0].reason


def test_json_in_any_of_its_forms() -> None:
    rule = {"action": "permit"}
    for text in (
        '{"10": {"action": "permit"}}',
        '[{"action": "permit"}]',
        '{"rules": {"10": {"action": "permit"}}}',
    ):
        assert parse(text).rules == {"10": rule}
    assert parse("[1, {").bad


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    pasted = parse(text)
    assert isinstance(pasted.rules, dict)


def test_no_rule_of_a_long_text_is_left_out_in_silence() -> None:
    """The last rule is often the one that denies the rest."""
    assert len(parse("permit ipv4 any any\n" * 6_000).rules) == 6_000
    pasted = parse("permit ipv4 any any\n" * 20_000 + "deny ipv4 any any\n")
    assert not pasted.rules
    assert [bad.reason for bad in pasted.bad] == [
        "at most 20,000 lines are read at once: paste the rest afterwards"
    ]


@pytest.mark.parametrize(
    ("count", "after", "step"), [(6_553, 0, 10), (9_000, 0, 5), (30_000, 0, 2), (9_000, 50_000, 1)]
)
def test_rules_without_a_number_are_numbered_so_that_they_fit(count: int, after: int, step: int) -> None:
    """9,000 rules were refused for 65540, which nobody had typed."""
    for text in ("permit tcp any any\n" * min(count, 20_000), json.dumps([{"action": "permit"}] * count)):
        pasted = parse(text, after=after)
        assert pasted.bad == []
        sequences = [int(one) for one in pasted.rules]
        assert sequences[0] == after + step
        if text.startswith("["):
            assert len(sequences) == count
            assert sequences[-1] == after + count * step


def test_rules_without_a_number_that_cannot_fit_are_refused_in_the_words_of_who_pasted_them() -> None:
    (bad,) = parse("10 permit any any\n65530 deny any any\n" + "permit tcp any any\n" * 9, after=20).bad
    assert bad.line == 3
    assert bad.reason.startswith(
        "the 9 rules without a number do not all fit: numbers go from the one behind rule 20 up to 65,535."
    )
