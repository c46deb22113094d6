"""Every clause of a route map acts where it is accepted: BIRD sees it on an exchanged route."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from frr_config import FrrClient
from frr_config.protocols.policy.clauses import Clause, Place, fields
from tests.integration.frr import clause_witness as witness
from tests.integration.frr.bird_neighbor import BirdNeighbor, bird_installed
from tests.integration.frr.conftest import configure, require_frr
from tests.integration.frr.harness import FrrHarness, wait_until

pytestmark = [pytest.mark.root, pytest.mark.timeout(300)]
Tables = Mapping[str, Mapping[str, Mapping[str, str]]]
DEFAULT = "0.0.0.0/0"
OSPF_DEFAULT = Place("ospf_default", "ipv4")
DEFAULTS: tuple[tuple[dict[str, Any], bool], ...] = (
    ({"tag": 7}, True),
    ({"tag": 8}, False),
    ({"interface": "d0"}, True),
    ({"interface": "d9"}, False),
    ({"prefix_list": "all-ipv4"}, True),
    ({"prefix_list": "none-ipv4"}, False),
)
"""Conditions of the default route's map, and whether a route passes it."""


class Exchange:
    """FRR with all route maps in use, and BIRD with what came by them."""

    def __init__(self, client: FrrClient, bird: BirdNeighbor) -> None:
        self.client, self._bird = client, bird
        self.version = client.version()

    def tables(self) -> Tables:
        return {
            table: witness.routes_of(self._bird.birdc("show", "route", "table", table, "protocol", by, "all"))
            for table, by in witness.PROTOCOLS.items()
        }

    def differing(self) -> list[str]:
        """Clauses that act where they are refused, or are ignored where they are accepted."""
        tables = self.tables()
        found = []
        for one in witness.ALL_PLACES:
            for clause in one.clauses:
                acts, why = one.acts(clause, tables), one.place.why_idle(clause, self.version)
                if acts == bool(why):
                    seen = "acts" if acts else "does not act"
                    found.append(f"{one.spot} {one.family} from {one.comes}: {clause.path} {seen}; {why}")
        return found


@pytest.fixture(scope="module")
def exchange(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exchange]:
    require_frr()
    if not bird_installed():
        pytest.skip("BIRD has to be installed (Debian package bird2)")
    name = f"fw{os.getpid() % 100000}"
    directory: Path = tmp_path_factory.mktemp("bird")
    with FrrHarness(name, name) as near, BirdNeighbor(f"{name}b", directory, witness.bird()) as bird:
        for link, (own, far) in {
            "d0": (witness.NEAR_EXT, witness.EXT),
            "d1": (witness.NEAR_INT, witness.INT),
        }.items():
            near.add_link(link, f"{own['ipv4']}/24", f"{own['ipv6']}/64", peer=(bird.netns, link))
            bird.add_address(link, f"{far['ipv4']}/24")
            bird.add_address(link, f"{far['ipv6']}/64")
        near.add_address("d1", f"{witness.NEAR_CLIENT}/24")
        bird.add_address("d1", f"{witness.CLIENT}/24")
        bird.start()
        client = near.client()
        configure(client, witness.routing())
        yield Exchange(client, bird)


def test_a_clause_acts_or_is_refused(exchange: Exchange) -> None:
    left: list[str] = []

    def is_as_the_table_says() -> bool:
        left[:] = exchange.differing()
        return not left

    try:
        wait_until(is_as_the_table_says, "what the table says", 120)
    except AssertionError:
        raise AssertionError("\n".join(left)) from None


def test_what_a_map_sets_acts_on_reflected_routes_too(exchange: Exchange) -> None:
    """bgpd leaves them as they are by default."""

    def is_changed() -> bool:
        found = exchange.tables()["int4"].get(witness.REFLECTED, {})
        return (found.get("BGP.med"), found.get("BGP.community")) == ("9", "(65009,9)")

    wait_until(is_changed, "a reflected route with what the map sets", 60)


def test_nothing_is_accepted_that_was_not_seen_to_act(
    exchange: Exchange, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other tests saw it of these."""
    places = {*(one.place for one in witness.ALL_PLACES), OSPF_DEFAULT}
    both = {(place, clause) for place in places for clause in fields()}
    refused = {(place, clause) for place, clause in both if place.why_idle(clause, exchange.version)}
    seen = {(one.place, clause) for one in witness.ALL_PLACES for clause in one.clauses}
    seen |= {(OSPF_DEFAULT, Clause("match", field)) for match, _ in DEFAULTS for field in match}
    acting, ignored = seen - refused, both - refused - seen
    with capsys.disabled():
        print(f"\nacts: {len(acting)}, refused: {len(refused)}, ignored: {len(ignored)}")
    assert not ignored
    assert (len(acting), len(refused)) == (121, 79)


def test_a_default_route_depends_on_the_conditions_that_ospfd_knows(exchange: Exchange) -> None:
    """It is originated where a route that could be redistributed passes the map, and stays as it was set."""
    for match, comes in DEFAULTS:
        (field,) = match
        assert OSPF_DEFAULT.why_idle(Clause("match", field), exchange.version) == ""
        document = witness.routing()
        # A default route has this metric whatever the map sets: such actions are refused.
        rule = {"action": "permit", "match": match, "set": {"metric": 99, "metric_type": "type-1", "tag": 99}}
        document["policy"]["route_maps"]["default"] = {"rules": {"10": rule}}
        document["ospf"]["default_information"] = {"always": True, "metric": 33, "route_map": "default"}
        configure(exchange.client, document)
        wait_until(
            lambda comes=comes: (DEFAULT in exchange.tables()["lsas"]) == comes,  # type: ignore[misc] # bound now
            f"the default route with {match}: {comes}",
            60,
        )
        if comes:
            shown = exchange.tables()["lsas"][DEFAULT]
            assert (shown["OSPF.metric2"], shown.get("OSPF.tag", "0x00000000")) == ("33", "0x00000000")
    for field in ("metric", "metric_type", "tag"):
        assert OSPF_DEFAULT.why_idle(Clause("set", field), exchange.version)
