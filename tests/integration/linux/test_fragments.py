"""Access lists and packets in pieces, on the kernel. Where VPP does the same, its tests ask the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

import pytest

from appliance.engine.backend import Step
from tests.integration.linux.conftest import DOCUMENT, Router
from tests.integration.linux.pieces import (
    ACK,
    DESTINATION_OPTIONS,
    FRAGMENT,
    ICMPV6,
    LAST,
    SYN,
    TCP,
    UDP,
    arrived,
    ipv4,
    ipv6,
    options,
    piece,
    tcp,
    udp,
)
from tests.integration.linux.test_access_lists import with_lists

pytestmark = pytest.mark.root

V4: Final = ("10.77.1.2", "10.77.2.2")
V6: Final = ("2001:db8:77:1::2", "2001:db8:77:2::2")
DENY_SSH: dict[str, Any] = {
    "10": {"action": "deny", "protocol": "tcp", "destination_ports": 22},
    "20": {"action": "deny", "family": "ipv6", "protocol": "tcp", "destination_ports": 22},
    "30": {"action": "permit"},
    "40": {"action": "permit", "family": "ipv6"},
}
OPEN = ipv4(LAST, V4, UDP, udp(9999))
"""Passes every list of these tests."""


class Hosts(Protocol):
    """A data plane of either kind, and the namespaces beside it."""

    @property
    def left(self) -> str:
        """From here packets come."""

    @property
    def right(self) -> str:
        """Here they arrive."""

    def commit(self, document: dict[str, Any]) -> Sequence[Step]:
        """Apply the document."""

    def ping(self, source: str, destination: str) -> bool:
        """Whether it is answered."""


def passed(router: Hosts, rules: dict[str, Any], packets: dict[int, bytes]) -> set[int]:
    """The numbers of those that get from left to right through the list, bound to the left interface."""
    router.commit(DOCUMENT)
    assert router.ping(router.left, V4[1])
    assert router.ping(router.left, V6[1])
    router.commit(with_lists({"edge": rules}, left0={"acl_in": ["edge"]}))
    return arrived(router.left, router.right, list(packets.values()), OPEN) & set(packets)


WHOLE = {
    1: ipv4(1, V4, TCP, tcp(22)),
    2: ipv6(2, V6, TCP, tcp(22)),
    3: ipv6(3, V6, DESTINATION_OPTIONS, options(TCP) + tcp(22)),
    4: ipv6(4, V6, FRAGMENT, piece(TCP, tcp(22))),
    5: ipv6(5, V6, FRAGMENT, piece(DESTINATION_OPTIONS, options(TCP) + tcp(22), more=True)),
    6: ipv4(6, V4, TCP, tcp(22) + bytes(4), more=True),
    11: ipv4(11, V4, TCP, tcp(80)),
    12: ipv6(12, V6, DESTINATION_OPTIONS, options(TCP) + tcp(80)),
    13: ipv6(13, V6, FRAGMENT, piece(TCP, tcp(80) + bytes(4), more=True)),
    14: ipv4(14, V4, UDP, udp(53), more=True),
}


def test_a_port_is_seen_behind_further_headers_and_in_a_first_piece(router: Router) -> None:
    assert passed(router, DENY_SSH, WHOLE) == {11, 12, 13, 14}


def hidden(number: int) -> dict[str, dict[int, bytes]]:
    """Connections to port 22 in pieces, the first of which does not hold the port."""
    asked = options(TCP, 16) + tcp(22) + bytes(4)
    inner = piece(TCP, tcp(22) + bytes(4))
    return {
        "options": {
            number: ipv6(number, V6, FRAGMENT, piece(DESTINATION_OPTIONS, asked[:8], more=True)),
            number + 1: ipv6(number + 1, V6, FRAGMENT, piece(DESTINATION_OPTIONS, asked[8:], at=8)),
        },
        "options in the first piece": {
            number + 2: ipv6(number + 2, V6, FRAGMENT, piece(DESTINATION_OPTIONS, asked[:16], more=True)),
            number + 3: ipv6(number + 3, V6, FRAGMENT, piece(DESTINATION_OPTIONS, asked[16:], at=16)),
        },
        "a piece of pieces": {
            number + 4: ipv6(number + 4, V6, FRAGMENT, piece(FRAGMENT, inner[:8], more=True)),
            number + 5: ipv6(number + 5, V6, FRAGMENT, piece(FRAGMENT, inner[8:], at=8)),
        },
    }


def test_what_a_list_denies_by_its_port_does_not_come_in_pieces(router: Router) -> None:
    """One piece of each is missing at the other end, so that it becomes no packet there."""
    attacks = hidden(100)
    packets = {number: one for pieces in attacks.values() for number, one in pieces.items()}
    seen = passed(router, DENY_SSH, packets)
    assert {name for name, pieces in attacks.items() if set(pieces) <= seen} == set()


NO_NEW_CONNECTIONS: dict[str, Any] = {
    "10": {"action": "deny", "protocol": "tcp", "tcp_flags": {"set": ["syn"], "unset": ["ack"]}},
    "20": {
        "action": "deny",
        "family": "ipv6",
        "protocol": "tcp",
        "tcp_flags": {"set": ["syn"], "unset": ["ack"]},
    },
    "30": {"action": "permit"},
    "40": {"action": "permit", "family": "ipv6"},
}


def test_flags_are_not_hidden_in_a_second_piece(router: Router) -> None:
    """Pieces that hold the flags are asked for them; a second one may not replace them (RFC 3128)."""
    question, answer = tcp(80, SYN) + bytes(12), tcp(80, ACK) + bytes(12)
    packets = {
        1: ipv4(1, V4, TCP, question[:8], more=True),
        2: ipv4(2, V4, TCP, question[8:], at=8),
        3: ipv4(3, V4, TCP, question[:16], more=True),
        4: ipv6(4, V6, FRAGMENT, piece(TCP, question[:8], more=True)),
        5: ipv6(5, V6, FRAGMENT, piece(TCP, question[:16], more=True)),
        11: ipv4(11, V4, TCP, answer[:16], more=True),
        12: ipv4(12, V4, TCP, answer[16:], at=16),
        13: ipv6(13, V6, FRAGMENT, piece(TCP, answer[:16], more=True)),
        14: ipv6(14, V6, FRAGMENT, piece(TCP, answer[16:], at=16)),
    }
    assert passed(router, NO_NEW_CONNECTIONS, packets) == {11, 12, 13, 14}


def test_later_pieces_match_rules_without_ports(router: Router) -> None:
    """Others compare what is at the place of a header, which is none here."""
    rules = {
        "10": {"action": "permit", "protocol": "udp", "destination_ports": 9999},
        "20": {"action": "permit", "protocol": "icmp"},
        "30": {"action": "permit", "family": "ipv6", "protocol": "udp"},
    }
    later = {1: ipv4(1, V4, UDP, bytes(16), at=16), 2: ipv6(2, V6, FRAGMENT, piece(UDP, bytes(16), at=16))}
    assert passed(router, rules, later) == {2}


CLOSED: dict[str, Any] = {"10": {"action": "permit"}}
"""Nothing of IPv6."""


def test_no_piece_passes_a_list_that_permits_nothing(router: Router) -> None:
    """ICMPv6 is let through for neighbor discovery, but not this."""
    packets = {
        1: ipv6(1, V6, FRAGMENT, piece(ICMPV6, bytes(64), at=8)),
        2: ipv6(2, V6, FRAGMENT, piece(ICMPV6, bytes(64), at=1024, more=True)),
        3: ipv6(3, V6, FRAGMENT, piece(DESTINATION_OPTIONS, bytes(64), at=8)),
        4: ipv6(4, V6, FRAGMENT, piece(UDP, bytes(64), at=8)),
        5: ipv6(5, V6, ICMPV6, b"\x80\0\0\0" + bytes(60)),
    }
    assert passed(router, CLOSED, packets) == set()
