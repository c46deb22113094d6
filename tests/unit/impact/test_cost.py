"""The cost of a packet, foretold before a commit."""

from __future__ import annotations

from typing import Any

from appliance.config.document import RouterConfig
from appliance.config.load import parse_document
from appliance.features.acl.costs import CLOCKS
from appliance.impact.calibration import BASE_CLOCKS
from appliance.impact.cost import Measured, Paid, cost, measured, paid
from appliance.impact.result import Result, summary
from vpp_config.node_counts import NodeCount


def _document(rules: int, nat: bool = False) -> RouterConfig:
    listed = {str(number): {"action": "permit"} for number in range(1, rules + 1)}
    link: dict[str, Any] = {"type": "memif", "role": "slave", "addresses": []}
    document: dict[str, Any] = {
        "acls": {"edge": {"rules": listed}},
        "interfaces": {
            "lan0": {
                **link,
                "socket": "lan",
                "addresses": ["10.0.0.1/24"],
                "acl_in": ["edge"] if rules else [],
            },
            "wan0": {**link, "socket": "wan", "addresses": ["192.0.2.1/24"]},
        },
    }
    if nat:
        document["nat"] = {"inside": ["lan0"], "outside": ["wan0"], "masquerade": ["wan0"]}
    return parse_document(document)


def _paid(config: RouterConfig) -> list[Paid]:
    return list(paid(config))


def test_a_bound_list_costs_what_the_bench_measured() -> None:
    told = cost(_paid(_document(0)), _paid(_document(1024)), None)
    assert told is not None
    more = Paid("x", CLOCKS, 1024, "x").price()
    assert (told.clocks_before, told.clocks_after) == (round(BASE_CLOCKS), round(BASE_CLOCKS + more))
    assert told.capacity == round(BASE_CLOCKS / (BASE_CLOCKS + more), 3)
    assert told.features == ("access lists in on lan0 (1,024 rules)",)
    assert "no worker of this router has been busy yet" in told.source


def test_the_summary_says_it() -> None:
    told = cost(_paid(_document(0)), _paid(_document(10)), None)
    (_, _, sentence) = summary(Result(looked_at=("access lists",), cost=told), [])
    assert sentence.startswith("A packet costs about ")
    assert "for access lists in on lan0 (10 rules)" in sentence


def test_what_changes_nothing_of_a_packets_way_is_not_told() -> None:
    assert cost(_paid(_document(10)), _paid(_document(10)), None) is None
    assert cost(_paid(_document(10_000)), _paid(_document(10_001)), None) is None


def test_this_routers_own_clocks_scale_it() -> None:
    slow = Measured(2 * BASE_CLOCKS, {})
    plain, twice = (cost(_paid(_document(0)), _paid(_document(50)), known) for known in (None, slow))
    assert plain is not None
    assert twice is not None
    assert abs(twice.clocks_after - 2 * plain.clocks_after) <= 1
    assert twice.capacity == plain.capacity


def test_a_feature_that_is_dearer_here_is_foretold_dearer() -> None:
    (foretold,) = (one.price() for one in _paid(_document(50)))
    dear = Measured(BASE_CLOCKS, {"acl-plugin-in-ip4-fa": 3 * foretold})
    cheap = Measured(BASE_CLOCKS, {"acl-plugin-in-ip4-fa": foretold / 3})
    changes = [cost(_paid(_document(50)), _paid(_document(1024)), known) for known in (dear, cheap, None)]
    assert all(changes)
    seen, unseen, none = (change.clocks_before for change in changes if change is not None)
    assert seen == round(BASE_CLOCKS + 3 * foretold)
    assert unseen == none == round(BASE_CLOCKS + foretold)


def test_nat_and_many_static_routes_are_paid_for_too() -> None:
    told = cost(_paid(_document(0)), _paid(_document(0, nat=True)), None)
    assert told is not None
    assert told.features[0].startswith("NAT")
    assert told.capacity < 1
    back = cost(_paid(_document(0, nat=True)), _paid(_document(0)), None)
    assert back is not None
    assert back.capacity > 1


def test_prices_lie_between_those_of_the_sizes_around() -> None:
    points = ((1, 10.0), (100, 30.0))
    prices = [Paid("x", points, size, "x").price() for size in (1, 10, 100, 5000)]
    assert prices == [10.0, 20.0, 30.0, 30.0]


def test_only_a_worker_with_full_vectors_tells_clocks() -> None:
    full = {
        "ip4-lookup": NodeCount(8000, 2_000_000, 24_000_000),
        "memif-input": NodeCount(8000, 2_000_000, 80_000_000),
        "acl-plugin-in-ip4-fa": NodeCount(4000, 1_000_000, 130_000_000),
    }
    told = measured({"vpp_main": {}, "vpp_wk_0": full})
    assert told is not None
    assert told.base_clocks == 52
    assert told.by_node["acl-plugin-in-ip4-fa"] == 65
    idle = {"ip4-lookup": NodeCount(2_000_000, 2_000_000, 900_000_000)}
    assert measured({"vpp_wk_0": idle}) is None
