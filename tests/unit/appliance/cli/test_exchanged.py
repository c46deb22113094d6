"""``show route receive-protocol bgp``, ``advertising-protocol bgp`` and ``show ospf database``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.cli.errors import CommandError
from appliance.cli.operational import SHOWS
from appliance.config.document import RouterConfig
from appliance.features.bgp.neighbor_routes import neighbor_routes
from appliance.features.ospf.database import ospf_database
from appliance.routing.frr import FrrBackend
from appliance.state.bgp_routes import BGP_ROUTES
from tests.recorded_frr import PEER, ROUTING, RecordedFrr

CONFIG = RouterConfig.model_validate(
    {
        "schema_version": 1,
        "interfaces": {f"d{at}": {"type": "loopback"} for at in range(3)},
        "routing": ROUTING,
    }
)


class _Agent:
    """Answers these two parts from a recording."""

    def __init__(self) -> None:
        self.frr = RecordedFrr("bgp_and_ospf_8_4")
        self._routing = FrrBackend("nowhere", Path("nowhere"), Path("nowhere"), client=self.frr)

    def state(self, part: Any, question: Any) -> Any:
        if part is BGP_ROUTES:
            return neighbor_routes(CONFIG, self._routing, question)
        return ospf_database(self._routing, question)


def _show(line: str, agent: Any = None) -> str:
    word, *words = line.split()
    asked: Any = agent or _Agent()
    return SHOWS[word](asked, words).shown


def _fields(shown: str, first: str) -> list[str]:
    return next(line for line in shown.splitlines() if line.startswith(first)).split()


def test_received_routes_are_shown_with_the_rule() -> None:
    shown = _show(f"route receive-protocol bgp {PEER}")
    row = " ".join(_fields(shown, "203.0.113.0/24"))
    assert row.startswith("203.0.113.0/24 accepted 10.9.0.2 65001 IGP 50 50 65000:666, 65001:1:2, RT:65001:7")
    assert "permit: route map in, rule 10 (sets local preference 50, communities 65000:666)" in row
    assert "not reported" in " ".join(_fields(shown, "10.0.0.0/8"))
    assert "192.0.2.0/24: FRR did not accept it: this router's AS 65000 is in its AS path." in shown
    assert "Attributes are those after policy." in shown


def test_advertised_routes_are_shown() -> None:
    shown = _show(f"route advertising-protocol bgp {PEER}")
    assert "198.18.0.0/24" in shown and "203.0.113.0/24" in shown and "203.0.112.0/24" not in shown
    assert "deny: prefix list all-but-112, rule 5" in _show(
        f"route advertising-protocol bgp {PEER} 203.0.112.0/24"
    )


@pytest.mark.parametrize(
    ("words", "shown", "hidden"),
    [
        ("203.0.112.0/20 longer", "203.0.113.0/24", "203.0.0.0/16"),
        ("203.0.77.1", "203.0.0.0/16", "203.0.113.0/24"),
        ("as 64512", "203.0.112.0/24", "203.0.113.0/24"),
        ("community 65001:1:2", "203.0.113.0/24", "203.0.112.0/24"),
        ("limit 1 offset 4", "1 of 5 routes", "10.0.0.0/8"),
        ("ipv6", "IPv6 unicast is not exchanged", "203.0.113.0/24"),
    ],
)
def test_routes_are_searched_by_words(words: str, shown: str, hidden: str) -> None:
    text = _show(f"route receive-protocol bgp {PEER} {words}")
    assert shown in text and hidden not in text


def test_the_database_is_shown_and_one_lsa_with_its_body() -> None:
    shown = _show("ospf database")
    assert "198.51.100.0/24" in shown and "asbr-summary" in shown
    assert len(_show("ospf database router").splitlines()) == 2 + 3
    one = _show("ospf database external 198.51.101.0")
    assert "advertising_router 10.255.0.2" in one.replace(": ", " ") or "10.255.0.2" in one
    assert "networkMask" in one and "length_bytes" in one
    assert _show("ospf database network 192.0.2.1") == "(none)"
    assert len(_show("ospf database area 0.0.0.7").splitlines()) == 2 + 3


@pytest.mark.parametrize(
    "line",
    [
        "route receive-protocol",
        "route receive-protocol ospf 10.9.0.2",
        "route receive-protocol bgp nobody",
        "route receive-protocol bgp 10.9.0.2 nonsense",
        "route receive-protocol bgp 10.9.0.2 community",
        "route receive-protocol bgp 10.9.0.2 limit many",
        "ospf database nonsense",
        "ospf database external nonsense",
        "ospf database area",
        "ospf nonsense",
    ],
)
def test_wrong_words_ask_nobody(line: str) -> None:
    agent = _Agent()
    with pytest.raises(CommandError):
        _show(line, agent)
    assert agent.frr.asked == []


def test_text_of_a_neighbor_does_not_drive_the_terminal() -> None:
    agent = _Agent()
    key = "bgpd: show bgp ipv4 unicast json detail"
    agent.frr.answers[key] = agent.frr.answers[key].replace("65001 64513 64512", "\\u001b[2Jevil")
    assert "\x1b" not in _show(f"route receive-protocol bgp {PEER}", agent)
    assert "evil" in _show(f"route receive-protocol bgp {PEER}", agent)
