"""On real FRR: why sessions are down, clearing them, and a rollback that reopens sessions closed by a limit.

::

    router (AS 65000) d0 ── d0 neighbor (AS 65001), 10 prefixes
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from appliance.config.capabilities import Capabilities
from appliance.engine.engine import Engine
from appliance.engine.records import CommitRequest
from appliance.engine.transaction import Patience
from appliance.errors import Conflict
from appliance.routing import FrrBackend
from appliance.routing.wanted import WantedRouting
from appliance.state.commit_options import CommitOptions
from frr_config.protocols.bgp.clearing import clear
from frr_config.protocols.bgp.session import sessions
from frr_config.protocols.ospf.clearing import clear_interface, clear_neighbor
from tests.integration.frr.conftest import OTHER_PEER, PEER, PEER6, Pair, configure
from tests.integration.frr.harness import wait_until

pytestmark = pytest.mark.root


def _routing(pair: Pair, most: int | None = None, **others: Any) -> dict[str, Any]:
    routing = copy.deepcopy(pair.near_routing())
    if most is not None:
        routing["bgp"]["neighbors"][PEER]["ipv4_unicast"]["maximum_prefix"] = most
    routing["bgp"]["neighbors"].update(others)
    return routing


def _closed(pair: Pair) -> bool:
    return sessions(pair.client)[PEER].is_over_limit


def _ports(pair: Pair, address: str) -> tuple[int, int] | None:
    return pair.connection(address)


def test_why_sessions_are_down(pair: Pair) -> None:
    others = {
        "10.99.0.9": {"remote_asn": 65009, "ipv4_unicast": {}},
        OTHER_PEER: {"remote_asn": 65077, "ipv4_unicast": {}, "connect_retry_s": 1},
        PEER6: {"remote_asn": 65001, "enabled": False, "ipv6_unicast": {}},
    }
    configure(pair.client, _routing(pair, 5, **others))
    wait_until(lambda: _closed(pair), "the session over its limit", 40)
    wait_until(lambda: "Bad Peer AS" in (sessions(pair.client)[OTHER_PEER].notification or ""), "the AS", 40)
    wait_until(lambda: "no route" in sessions(pair.client)["10.99.0.9"].down.reason, "a look for a route", 60)
    found = {address: session.down.reason for address, session in sessions(pair.client).items()}
    assert found[PEER].startswith("closed on this router: the neighbor sent more prefixes")
    assert "Cease/Maximum Number of Prefixes Reached" in found[PEER]
    assert found["10.99.0.9"].startswith("no route to the neighbor")
    assert found[OTHER_PEER].startswith("the AS number of the neighbor is not")
    assert found[PEER6].startswith("shut down on this router")
    session = sessions(pair.client)[PEER]
    assert session.established_count > 0 and session.since_s is not None
    view = FrrBackend(pair.near.netns, pair.near.vty_dir, pair.near.config_dir, client=pair.client)
    state = view.bgp_state().neighbors
    assert state[PEER].down_reason == found[PEER]
    assert all(state[address].down_ms is not None for address in found)
    # bgpd's 0.0.0.0 for a neighbor that never answered means that nothing is known.
    assert state["10.99.0.9"].router_id is None


def test_sessions_are_cleared_hard_and_soft(pair: Pair) -> None:
    before = {address: _ports(pair, address) for address in (PEER, OTHER_PEER, PEER6)}
    for operation in (
        clear(PEER, "in"),
        clear(PEER, "out", "ipv4_unicast"),
        clear(None, "in"),
        clear(None, "out", "ipv6_unicast"),
    ):
        pair.client.operate(operation)
    assert {address: _ports(pair, address) for address in before} == before, "soft keeps the session"
    pair.client.operate(clear(PEER))
    wait_until(
        lambda: _ports(pair, PEER) not in (None, before[PEER]), "another session with one neighbor", 40
    )
    assert (_ports(pair, OTHER_PEER), _ports(pair, PEER6)) == (before[OTHER_PEER], before[PEER6])
    pair.client.operate(clear(None))
    wait_until(
        lambda: all(_ports(pair, address) not in (None, before[address]) for address in (OTHER_PEER, PEER6)),
        "another session with every neighbor",
        40,
    )


def test_what_frr_refuses_raises_with_its_words(pair: Pair) -> None:
    backend = FrrBackend(pair.near.netns, pair.near.vty_dir, pair.near.config_dir, client=pair.client)
    with pytest.raises(Conflict, match="Unknown neighbor"):
        backend.operate(clear("10.77.0.1"))
    with pytest.raises(Conflict, match="IPv6 Unicast"):
        backend.operate(clear(PEER, "in", "ipv6_unicast"))


def test_ospf_adjacencies_are_cleared(pair: Pair) -> None:
    def routing(router_id: str) -> dict[str, Any]:
        timers = {"hello_interval_s": 1, "dead_interval_s": 4, "network_type": "point-to-point"}
        return {"ospf": {"router_id": router_id, "interfaces": {"d0": {"area": "0.0.0.0", **timers}}}}

    def uptime_ms() -> float | None:
        rows = FrrBackend("none", Path("/"), Path("/"), client=pair.client).ospf_state().neighbors
        return next((row.uptime_ms for row in rows if row.full and row.router_id == "10.255.0.9"), None)

    configure(pair.far_client, routing("10.255.0.9"))
    configure(pair.client, routing("10.255.0.1"))
    for operation in (clear_neighbor("10.255.0.9"), clear_interface("d0")):
        wait_until(lambda: (uptime_ms() or 0) > 3000, "an adjacency that stands", 60)
        pair.client.operate(operation)
        wait_until(lambda: (known := uptime_ms()) is None or known < 3000, f"{operation.text}", 20)
    wait_until(lambda: uptime_ms() is not None, "the adjacency again", 60)


@pytest.fixture
def engine(pair: Pair, tmp_path: Path) -> Iterator[Engine]:
    backend = FrrBackend(pair.near.netns, pair.near.vty_dir, pair.near.config_dir)
    made = Engine(
        (backend,),
        lambda config: {"frr": WantedRouting.of(config)},
        lambda: Capabilities(driver="linux"),
        tmp_path,
        patience=Patience(),
        interval_s=1.0,
    )
    made.start()
    yield made
    made.close()
    backend.close()


def _commit(engine: Engine, routing: dict[str, Any], **more: Any) -> None:
    # The engine drives FRR alone: the harness made the links that these stand for.
    addresses = ["10.9.0.1/24", "10.9.1.1/24", "2001:db8:9::1/64"]
    interfaces = {"lo1": {"type": "loopback", "addresses": addresses}}
    document = {"schema_version": 1, "interfaces": interfaces, "routing": routing}
    result = engine.commit(CommitRequest(document, CommitOptions(author="test", **more)))
    assert result.state == "done", result.error


@pytest.mark.parametrize("how", ["by hand", "by the timer"])
def test_a_rollback_opens_the_session_that_a_limit_had_closed(pair: Pair, engine: Engine, how: str) -> None:
    _commit(engine, _routing(pair, 5000))
    pair.wait_established(PEER)
    _commit(engine, _routing(pair, 5), **({} if how == "by hand" else {"confirm_s": 5}))
    wait_until(lambda: _closed(pair) or engine.revision == 3, "the session over its limit", 30)
    if how == "by hand":
        result = engine.rollback(1, CommitOptions(author="test"))
        assert result.state == "done", result.error
        assert result.reopened and PEER in result.reopened[0]
    wait_until(lambda: engine.revision == 3, "the rollback", 60)
    pair.wait_established(PEER)
    wait_until(lambda: engine.revision_details(3)["reopened"] != [], "the revision that says so", 30)
    assert PEER in engine.revision_details(3)["reopened"][0]
