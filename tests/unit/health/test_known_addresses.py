"""Which addresses zebra is found to lack, and when they are given to it again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from appliance.agent.router import Router
from appliance.config.load import parse_document
from appliance.health.check import Look
from appliance.health.known_addresses import tell_again, unknown
from appliance.routing.known_addresses import LINK_LOCAL, untold

CONFIG = parse_document(
    {
        "schema_version": 1,
        "interfaces": {
            "wan0": {
                "type": "ethernet",
                "match": {"device": "nic"},
                "addresses": ["192.0.2.2/30", "2001:db8:20::2/64"],
            },
            "lo1": {"type": "loopback", "addresses": ["198.51.100.1/24", "198.51.100.2/24"]},
            "off0": {"type": "loopback", "enabled": False, "addresses": ["203.0.113.1/24"]},
        },
    }
)


def _known(**addresses: list[str]) -> dict[str, Any]:
    return {name: {"status": "up", "addresses": listed} for name, listed in addresses.items()}


WHOLE = _known(wan0=["192.0.2.2/30", "2001:db8:20::2/64"], lo1=["198.51.100.1/24"], off0=[])


def test_only_what_zebra_would_list_is_missed() -> None:
    assert untold(WHOLE, CONFIG) == frozenset()
    assert untold({**WHOLE, "wan0": {"status": "down", "addresses": []}}, CONFIG) == frozenset()
    assert untold({}, CONFIG) == frozenset()
    assert untold({**WHOLE, **_known(wan0=["2001:db8:20:0::2/64"])}, CONFIG) == {("wan0", "192.0.2.2/30")}
    assert untold({**WHOLE, **_known(lo1=[])}, CONFIG) == {
        ("lo1", "198.51.100.1/24"),
        ("lo1", "198.51.100.2/24"),
    }


def test_a_link_local_address_is_missed_where_ipv6_runs() -> None:
    lost = {name: {**one, "link_local": False} for name, one in WHOLE.items()}
    assert untold(lost, CONFIG) == {("wan0", LINK_LOCAL)}
    told: list[Any] = []
    look: Look[Any] = Look(lost, CONFIG, WHOLE)
    tell_again(cast(Router, SimpleNamespace(routing=SimpleNamespace(tell_addresses=told.append))), look)
    assert told == [frozenset({("wan0", LINK_LOCAL)})]
    assert list(unknown(look)) == [], "whether Linux has one is not known"


def test_it_is_told_again_only_after_two_looks() -> None:
    told: list[Any] = []
    router = cast(Router, SimpleNamespace(routing=SimpleNamespace(tell_addresses=told.append)))
    lost = {**WHOLE, **_known(wan0=[])}
    for before in (None, WHOLE):
        look: Look[Any] = Look(lost, CONFIG, before)
        tell_again(router, look)
        assert (told, list(unknown(look))) == ([], [])
    look = Look(lost, CONFIG, lost)
    tell_again(router, look)
    assert told == [frozenset({("wan0", "192.0.2.2/30"), ("wan0", "2001:db8:20::2/64")})]
    (one,) = unknown(look)
    assert (one.kind, one.object, one.severity, one.pointer) == (
        "addresses_unknown",
        "wan0",
        "major",
        "/interfaces/wan0",
    )
