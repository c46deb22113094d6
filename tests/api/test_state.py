"""Live state passes through, typed."""

from __future__ import annotations

from tests.api.conftest import ApiClient
from tests.api.router_in_memory import RouterInMemory


def test_every_part_says_what_the_agent_says(viewer: ApiClient, router: RouterInMemory) -> None:
    agent = router.client
    for part, told in (
        ("interfaces", agent.state_interfaces()),
        ("routes", agent.state_routes()),
        ("bgp", agent.state_bgp()),
        ("ospf", agent.state_ospf()),
        ("acls", agent.state_acls()),
        ("control-plane", agent.state_control_plane()),
        ("neighbors", agent.state_neighbors()),
        ("hardware", agent.state_hardware()),
        ("health", agent.state_health()),
    ):
        answer = viewer.get(f"state/{part}")
        assert (answer.status, answer.body) == (200, told), part


def test_one_neighbor(viewer: ApiClient) -> None:
    assert viewer.get("state/bgp/neighbors/192.0.2.1").body["state"] == "established"
    assert viewer.get("state/bgp/neighbors/192.0.2.9").status == 404


def test_a_page_of_routes(viewer: ApiClient) -> None:
    answer = viewer.get("state/routes?prefix=10.0.0.1&longest=true&family=ipv4&limit=5&offset=0").body
    assert (answer["routes"], answer["limit"]) == ([], 5)
