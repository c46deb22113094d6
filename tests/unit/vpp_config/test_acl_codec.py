"""Known rules are found by their bytes, and equal the result of decoding the bytes again."""

from __future__ import annotations

import struct
from dataclasses import replace
from ipaddress import ip_network
from random import Random

import pytest

from tests.integration.vpp.random_states import random_rule
from vpp_config import AclRule, acl_codec, shared_rule
from vpp_config.acl_codec import SeenRules, decode_details, decode_rule, encode_add_replace, encode_rule

_ANY = ip_network("0.0.0.0/0")


@pytest.fixture(autouse=True)
def seen(monkeypatch: pytest.MonkeyPatch) -> SeenRules:
    """The memory of rules: empty."""
    fresh = SeenRules(100)
    monkeypatch.setattr(acl_codec, "_seen", fresh)
    return fresh


def _details(*pieces: bytes) -> bytes:
    return struct.pack(">HII64sI", 700, 4, 5, b"millrace:edge", len(pieces)) + b"".join(pieces)


def test_what_was_sent_is_read_back_as_the_same_objects() -> None:
    random = Random(1)
    rules = tuple(random_rule(random) for _ in range(50))
    sent = encode_add_replace(700, 3, 4, 5, "millrace:edge", rules)
    pieces = [encode_rule(rule) for rule in rules]
    assert sent.endswith(b"".join(pieces))
    read = decode_details(_details(*pieces)).r
    assert read == rules
    # Equal rules share one object.
    first = {rule: rule for rule in reversed(rules)}
    assert all(one is first[rule] for one, rule in zip(read, rules, strict=True))


def test_what_is_remembered_is_what_a_fresh_reading_gives() -> None:
    random = Random(2)
    for _ in range(2000):
        rule = random_rule(random)
        raw = encode_rule(rule)
        assert shared_rule(rule) == decode_rule(raw) == rule
        assert hash(shared_rule(rule)) == hash(decode_rule(raw)) == hash(rule)


def test_other_bytes_are_read_and_not_taken_for_what_was_sent() -> None:
    sent = AclRule("deny", _ANY, ip_network("192.0.2.0/24"), 6, destination_ports=(80, 443))
    encode_add_replace(700, 3, 4, 5, "millrace:edge", [sent])
    raw = encode_rule(sent)
    for at in range(len(raw)):
        changed = raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]
        try:
            fresh = decode_rule(changed)
        except ValueError:
            with pytest.raises(ValueError, match=r"\S"):
                decode_details(_details(changed))
            continue
        (read,) = decode_details(_details(changed)).r
        assert read == fresh
        assert read is not sent


def test_bytes_that_vpp_does_not_use_make_no_difference() -> None:
    sent = AclRule("permit", _ANY, ip_network("192.0.2.0/24"))
    encode_add_replace(700, 3, 4, 5, "millrace:edge", [sent])
    raw = bytearray(encode_rule(sent))
    # The rest of an IPv4 address's 16 bytes, and the TCP flags of a rule for any protocol.
    raw[8], raw[-1] = 7, 7
    (read,) = decode_details(_details(bytes(raw))).r
    assert read == sent


def test_no_more_is_remembered_than_asked_for(seen: SeenRules) -> None:
    rules = [AclRule("deny", _ANY, _ANY, 17, (port, port)) for port in range(1000)]
    encode_add_replace(700, 3, 4, 5, "millrace:edge", rules)
    assert len(seen) == 100
    assert decode_details(_details(*map(encode_rule, rules))).r == tuple(rules)
    assert len(seen) == 100
    assert shared_rule(replace(rules[999])) == rules[999]


def test_rules_that_differ_in_one_field_differ_on_the_wire() -> None:
    tcp = AclRule("deny", _ANY, _ANY, 6, (1, 2), (3, 4), tcp_flags=2, tcp_mask=18)
    icmp = AclRule("deny", _ANY, _ANY, 1, icmp_type=(8, 8), icmp_code=(0, 0))
    others = [
        replace(tcp, action="permit"),
        replace(tcp, action="permit_reflect"),
        replace(tcp, source=ip_network("0.0.0.0/1")),
        replace(tcp, destination=ip_network("0.0.0.0/1")),
        replace(tcp, source=ip_network("::/0"), destination=ip_network("::/0")),
        replace(tcp, protocol=17, tcp_flags=0, tcp_mask=0),
        replace(tcp, source_ports=(1, 3)),
        replace(tcp, destination_ports=(2, 4)),
        replace(tcp, tcp_flags=0),
        replace(tcp, tcp_mask=2),
        icmp,
        replace(icmp, icmp_type=None),
        replace(icmp, icmp_type=(0, 8)),
        replace(icmp, icmp_code=None),
        replace(icmp, icmp_code=(0, 1)),
    ]
    assert len({encode_rule(rule) for rule in (tcp, *others)}) == len(others) + 1
