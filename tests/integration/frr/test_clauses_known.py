"""The table of what each daemon knows is what the daemons of this machine say."""

from __future__ import annotations

from typing import Any

import pytest

from frr_config import FrrConfig, FrrVersion
from frr_config.line import Line
from frr_config.protocols.policy import counting
from frr_config.protocols.policy.clauses import DAEMONS, Clause, known
from tests.integration.frr.conftest import INTERFACES, configure
from tests.integration.frr.harness import FrrHarness
from tests.route_map_clauses import NAME, policy, told

pytestmark = pytest.mark.root
ADDRESS = INTERFACES["d0"][0].partition("/")[0]


@pytest.mark.parametrize("daemon", DAEMONS)
def test_a_daemon_knows_what_the_table_says(empty_router: FrrHarness, daemon: str) -> None:
    client = empty_router.client()
    configure(client, {"policy": policy("d0", ADDRESS)})
    answer = client.show(daemon, f"show route-map {NAME} json")
    assert told(answer) == known(daemon, client.version())


def test_a_condition_that_a_daemon_keeps_and_does_not_evaluate_is_missed(
    empty_router: FrrHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon that knows less than the table says: its configuration has the line, its rule does not."""

    def more(daemon: str, version: FrrVersion) -> frozenset[Clause]:
        return known(daemon, version) | ({Clause("match", "metric")} if daemon == "ospfd" else set())

    routing: dict[str, Any] = {
        "policy": {"route_maps": {"m": {"rules": {"10": {"action": "permit", "match": {"metric": 5}}}}}}
    }
    routing["ospf"] = {"router_id": "10.9.9.9", "redistribute": {"static": {"route_map": "m"}}}
    line = Line(("route-map m permit 10",), "match metric 5")
    client = empty_router.client()
    configure(client, routing)
    assert "match metric 5" in client.show("ospfd", "show running-config")
    assert "ospfd" in client.observe().holders[line]
    monkeypatch.setattr(counting, "known", more)
    seen: FrrConfig = empty_router.client().observe()
    assert seen.holders[line] == {"bgpd", "zebra"}, "OSPF uses the route map"
