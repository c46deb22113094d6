"""Only the static routes that a change touches are analysed, with the same findings as for all of them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from appliance.config.document import RouterConfig
from appliance.config.load import parse_document
from appliance.features.static import impact, table
from appliance.features.static.gone import gone
from appliance.impact.analysis import Analysis, foretell
from appliance.impact.change import Change

_PREFIXES = [f"10.{high}.{low}.0/24" for high in (10, 40) for low in range(6)] + ["10.40.0.0/16", "0.0.0.0/0"]
_HOPS = ["10.10.0.2", "10.20.0.2", "10.40.1.9", "10.40.5.9", "172.16.0.1"]


def _route(source: random.Random) -> dict[str, Any]:
    if source.random() < 0.1:
        return {"blackhole": True}
    hops: list[dict[str, Any]] = [{"address": one} for one in source.sample(_HOPS, source.choice((1, 1, 2)))]
    if source.random() < 0.2:
        hops.append({"address": "10.30.0.9", "vrf": "blue"})
    return {"next_hops": hops}


def _document(source: random.Random) -> dict[str, Any]:
    links = {
        name: {
            "type": "loopback",
            "addresses": [f"10.{number}.0.1/24"],
            "enabled": source.random() < 0.9,
            **({"vrf": "blue"} if name == "lo3" else {}),
        }
        for number, name in ((10, "lo1"), (20, "lo2"), (30, "lo3"))
    }
    static = {prefix: _route(source) for prefix in source.sample(_PREFIXES, 9)}
    return {"vrfs": {"blue": {"table": 7}}, "interfaces": links, "routing": {"static": static}}


def _edited(source: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    """A few routes added, removed or changed, and sometimes an interface disabled or enabled."""
    static = dict(document["routing"]["static"])
    for prefix in source.sample(_PREFIXES, 2):
        if prefix in static and source.random() < 0.6:
            del static[prefix]
        else:
            static[prefix] = _route(source)
    interfaces = dict(document["interfaces"])
    if source.random() < 0.3:
        name = source.choice(sorted(interfaces))
        interfaces[name] = {**interfaces[name], "enabled": not interfaces[name].get("enabled", True)}
    return {**document, "interfaces": interfaces, "routing": {"static": static}}


def _sharing(before: RouterConfig, after: RouterConfig) -> RouterConfig:
    """``after`` with the very objects of ``before`` where they are alike, as the agent reads it."""
    known = before.routing.static
    static = {
        prefix: known[prefix] if known.get(prefix) == route else route
        for prefix, route in after.routing.static.items()
    }
    return after.model_copy(update={"routing": after.routing.model_copy(update={"static": static})})


def _gone(before: RouterConfig, after: RouterConfig) -> tuple[tuple[str, ...], frozenset[str]]:
    seen = gone(Change(before, after).in_vrf(""))
    return tuple(seen.by.get("static", ())), seen.entirely


@pytest.mark.parametrize("seed", range(60))
def test_what_is_found_in_touched_routes_is_what_all_show(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(seed)
    plain = _document(source)
    before = parse_document(plain)
    after = _sharing(before, parse_document(_edited(source, plain)))
    listed = [Analysis("static routes", impact.routes, each_vrf=True)]

    few, looked_at = foretell(Change(before, after), listed), table.touched(Change(before, after).in_vrf(""))
    gone_by_few = _gone(before, after)
    monkeypatch.setattr(table, "_is_reached_alike", lambda _: False)
    every = table.touched(Change(before, after).in_vrf(""))
    assert set(every) == {*before.routing.static, *after.routing.static} >= set(looked_at)
    monkeypatch.setattr(impact, "stands", lambda _: False)
    monkeypatch.setattr("appliance.features.static.gone.stands", lambda _: False)
    assert foretell(Change(before, after), listed).findings == few.findings
    assert _gone(before, after) == gone_by_few


def test_a_route_beside_thousands_is_looked_at_alone() -> None:
    static = {f"100.64.{number // 250}.{number % 250}/32": _HOPS[0] for number in range(2000)}
    plain: dict[str, Any] = {
        "interfaces": {"lo1": {"type": "loopback", "addresses": ["10.10.0.1/24"]}},
        "routing": {"static": {one: {"next_hops": [{"address": hop}]} for one, hop in static.items()}},
    }
    before = parse_document(plain)
    plain["routing"]["static"]["203.0.113.0/24"] = {"next_hops": [{"address": _HOPS[0]}]}
    change = Change(before, _sharing(before, parse_document(plain)))
    assert table.touched(change) == ("203.0.113.0/24",)
