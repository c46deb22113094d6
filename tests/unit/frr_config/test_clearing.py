"""Commands that clear sessions, which limits a change raises, and why a session is down."""

from __future__ import annotations

from typing import Any

import pytest

from frr_config.protocols.bgp.clearing import clear
from frr_config.protocols.bgp.limits import raised
from frr_config.protocols.bgp.model import Bgp
from frr_config.protocols.bgp.session import state_of, why_down
from frr_config.protocols.ospf.clearing import clear_interface, clear_neighbor


def test_each_command_is_one_line_for_one_daemon() -> None:
    assert clear("192.0.2.1").text == "clear bgp 192.0.2.1"
    assert clear("2001:DB8::1", "in", "ipv6_unicast").text == "clear bgp ipv6 unicast 2001:db8::1 soft in"
    assert clear(None, "out").text == "clear bgp * soft out"
    assert clear_neighbor("10.0.0.9").text == "clear ip ospf neighbor 10.0.0.9"
    assert clear_interface("core0").text == "clear ip ospf interface core0"
    assert {clear(None).daemon, clear_interface("lan0").daemon} == {"bgpd", "ospfd"}


@pytest.mark.parametrize(
    "text", ["*", "192.0.2.1 soft", "fe80::1%a soft", "", "192.0.2.1\0configure", "peers"]
)
def test_what_is_no_address_reaches_no_daemon(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        clear(text)
    with pytest.raises(ValueError, match=r"."):
        clear_neighbor(text)


@pytest.mark.parametrize("name", ["lan0 x", "lan0\0", "", "*"])
def test_what_is_no_name_of_an_interface_reaches_no_daemon(name: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        clear_interface(name)


def test_other_words_reach_no_daemon() -> None:
    given: Any = "both; end"
    with pytest.raises(ValueError, match="none of"):
        clear("192.0.2.1", given)
    with pytest.raises(ValueError, match="none of"):
        clear("192.0.2.1", "in", given)
    with pytest.raises(ValueError, match="all its families"):
        clear("192.0.2.1", None, "ipv4_unicast")


def _bgp(own: Any = None, shared: Any = None, **more: Any) -> Bgp:
    return Bgp.model_validate(
        {
            "asn": 65000,
            "peer_groups": {"g": {"ipv4_unicast": shared}},
            "neighbors": {"192.0.2.1": {"remote_asn": 1, "peer_group": "g", "ipv4_unicast": own, **more}},
        }
    )


TEN, MANY, WARNS = ({"maximum_prefix": 10}, {"maximum_prefix": 5000},
                    {"maximum_prefix": 10, "maximum_prefix_warning_only": True})  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (_bgp(TEN), _bgp(MANY), True),
        (_bgp(TEN), _bgp({}), True),
        (_bgp(TEN), _bgp(WARNS), True),
        (_bgp(None, TEN), _bgp(None, MANY), True),
        (_bgp(None, TEN), _bgp(MANY, TEN), True),
        (_bgp(TEN), _bgp({}, TEN), False),
        (_bgp(MANY), _bgp(TEN), False),
        (_bgp(TEN), _bgp(TEN), False),
        (_bgp(WARNS), _bgp(MANY), False),
        (_bgp(TEN), _bgp(MANY, enabled=False), False),
        (None, _bgp(MANY), False),
        (_bgp(TEN), None, False),
    ],
)
def test_which_limits_a_change_raises(before: Bgp | None, after: Bgp | None, expected: bool) -> None:
    assert raised(before, after) == (("192.0.2.1",) if expected else ())


def test_a_reason_has_frrs_own_words_and_an_advice() -> None:
    state = state_of({"bgpState": "Idle", "prefixesConfigExceedMax": True})
    down = why_down(state, "BGP Notification send", "Cease/Maximum Number of Prefixes Reached")
    assert down.reason == (
        "closed on this router: the neighbor sent more prefixes than its maximum allows (FRR: Idle (PfxCt); "
        "BGP Notification send: Cease/Maximum Number of Prefixes Reached)"
    )
    theirs = why_down("Active", "BGP Notification received", "Cease/Maximum Number of Prefixes Reached")
    assert theirs.reason.startswith("the neighbor closed it")
    assert why_down("Idle (Admin)", "Admin. shutdown", None).reason.startswith("shut down on this router")
    # An old notification is not the reason that it is down now.
    assert "Cease" not in why_down("Active", "Waiting for NHT", "Cease/Administrative Shutdown").reason
    unknown = why_down("Active", "Something new", None)
    assert unknown.reason == "it does not come up (FRR: Active; Something new)" and unknown.advice
