"""What our evaluation says of random policies and routes is what bgpd does with them.

::

    FRR, AS 65000   d0 10.9.0.1 --- 10.9.0.2   BIRD, AS 65001: 40 routes with many kinds of attributes
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from frr_config import FrrClient, Routing
from frr_config.protocols.bgp.routes import BgpPath, table
from frr_config.protocols.policy.communities import plain_community
from frr_config.protocols.policy.evaluate import Evaluator, Facts, Outcome
from tests.integration.frr.bird_neighbor import BirdNeighbor, bird_installed
from tests.integration.frr.conftest import configure
from tests.integration.frr.harness import FrrHarness, frr_installed, wait_until

pytestmark = [pytest.mark.root, pytest.mark.timeout(300)]
PEER = "10.9.0.2"
POLICIES = 40
BLACKHOLE, NO_EXPORT = "65535:666", "65535:65281"
COMMUNITIES = ("65001:1", "65001:2", "65001:3", BLACKHOLE)
PATHS = ((), (64512,), (64512, 64513), (64513, 64512), (1,), (645, 12))


@dataclass(frozen=True)
class Sent:
    """A route as BIRD sends it."""

    prefix: str
    path: tuple[int, ...]
    communities: tuple[str, ...]
    metric: int | None

    @property
    def facts(self) -> Facts:
        return Facts(
            ip_network(self.prefix),
            " ".join(map(str, (65001, *self.path))),
            frozenset(self.communities),
            self.metric or 0,
        )

    def bird(self) -> str:
        """A line of a static protocol; its own AS is put in front when it is sent."""
        sets = [f"bgp_path.prepend({asn});" for asn in reversed(self.path)]
        sets += [f"bgp_community.add(({community.replace(':', ',')}));" for community in self.communities]
        return f"route {self.prefix} blackhole {{ {' '.join(sets)} }};"


def _sent() -> list[Sent]:
    rng = random.Random(1)
    return [
        Sent(
            f"198.{18 + at % 2}.{at}.0/{rng.choice((24, 25, 26))}",
            rng.choice(PATHS),
            tuple(sorted(rng.sample(COMMUNITIES, rng.randrange(4)))),
            rng.choice((None, 5, 10)),
        )
        for at in range(40)
    ]


SENT = _sent()


def _with_metric(metric: int) -> str:
    """BIRD sends another AS only the MED that its filter sets."""
    prefixes = ", ".join(sent.prefix for sent in SENT if sent.metric == metric)
    return f"if net ~ [{prefixes}] then bgp_med = {metric};"


BIRD = f"""log stderr all;
router id 10.255.0.2;
protocol device {{ scan time 10; }}
protocol static announced {{ ipv4; {chr(10).join(sent.bird() for sent in SENT)} }}
protocol bgp near {{
  local as 65001;
  neighbor 10.9.0.1 as 65000;
  source address {PEER};
  connect retry time 1; connect delay time 1; error wait time 1, 2;
  ipv4 {{ import all; export filter {{ {_with_metric(5)} {_with_metric(10)} accept; }}; next hop self; }};
}}
"""


class Policies:
    """Policies that affect those routes."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)

    def document(self) -> dict[str, Any]:
        rng = self._rng
        return {
            "prefix_lists": {f"p{at}": {"rules": self._prefix_rules()} for at in range(3)},
            "as_path_lists": {
                f"a{at}": {
                    "rules": {
                        str(5 * number): {"action": rng.choice(("permit", "permit", "deny")), "regex": regex}
                        for number, regex in enumerate(
                            rng.sample(
                                ("^65001$", "_64512$", "_64512_", "645", "^65001_1_?$", "(_6451[23])+$"), 2
                            ),
                            1,
                        )
                    }
                }
                for at in range(2)
            },
            "community_lists": {
                f"c{at}": {
                    "rules": {
                        str(5 * number): {
                            "action": rng.choice(("permit", "permit", "deny")),
                            "communities": rng.sample(COMMUNITIES, rng.randint(1, 2)),
                        }
                        for number in (1, 2)
                    }
                }
                for at in range(2)
            },
            # A route map calls those after it alone.
            "route_maps": {f"m{at}": {"rules": self._rules(at)} for at in range(3)},
        }

    def _prefix_rules(self) -> dict[str, Any]:
        rng, rules = self._rng, dict[str, Any]()
        for number in range(rng.randint(1, 4)):
            prefix = rng.choice(
                ("0.0.0.0/0", "198.18.0.0/15", "198.18.0.0/16", "198.19.0.0/16", "198.19.8.0/21")
            )
            lengths = rng.choice(({"le": 32}, {"le": 24}, {"ge": 25}, {"ge": 24, "le": 25}, {}))
            rule = {"action": rng.choice(("permit", "deny")), "prefix": prefix, **lengths}
            if rule not in rules.values():  # FRR keeps only one of equal rules
                rules[str(10 * number + 10)] = rule
        return rules

    def _rules(self, at: int) -> dict[str, Any]:
        rng, rules = self._rng, {}
        for number in range(rng.randint(2, 5)):
            sequence = 10 * number + 10
            rule: dict[str, Any] = {"action": rng.choice(("permit", "permit", "permit", "deny"))}
            rule["match"] = {
                name: value
                for name, value in (
                    ("prefix_list", f"p{rng.randrange(3)}"),
                    ("as_path_list", f"a{rng.randrange(2)}"),
                    ("community_list", f"c{rng.randrange(2)}"),
                    ("metric", rng.choice((5, 10, 77))),
                )
                if rng.random() < 0.35
            }
            if rule["action"] == "permit":
                rule["set"] = {
                    name: value
                    for name, value in (
                        ("local_preference", 100 + sequence + at),
                        ("metric", 77),
                        ("communities", rng.sample(COMMUNITIES, 1)),
                        ("as_path_prepend", [64600 + at]),
                    )
                    if rng.random() < 0.4
                }
                if "communities" in rule["set"]:
                    rule["set"]["communities_additive"] = rng.random() < 0.5
                if at < 2 and rng.random() < 0.3:
                    rule["call"] = f"m{at + 1}"
                if rng.random() < 0.4:
                    rule |= rng.choice(
                        ({"on_match_next": True}, {"on_match_goto": sequence + rng.choice((10, 15, 40))})
                    )
            rules[str(sequence)] = rule
        return rules


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrrClient]:
    if not frr_installed() or not bird_installed():
        pytest.skip("FRRouting and BIRD have to be installed (Debian packages frr and bird2)")
    name = f"fv{os.getpid() % 100000}"
    directory: Path = tmp_path_factory.mktemp("bird")
    with FrrHarness(name, name) as near, BirdNeighbor(f"{name}b", directory, BIRD) as bird:
        near.add_link("d0", "10.9.0.1/24", peer=(bird.netns, "d0"))
        bird.add_address("d0", f"{PEER}/24")
        bird.start()
        found = near.client()
        configure(found, _routing({}))
        wait_until(lambda: len(_table(found)) == len(SENT), "the routes", 60)
        yield found


def _routing(policy: dict[str, Any], **exchanged: Any) -> dict[str, Any]:
    family = {"soft_reconfiguration_inbound": True, **exchanged}
    return {
        "policy": policy,
        "bgp": {
            "asn": 65000,
            "router_id": "10.255.0.1",
            "ebgp_requires_policy": False,
            "neighbors": {PEER: {"remote_asn": 65001, "connect_retry_s": 1, "ipv4_unicast": family}},
        },
    }


def _table(client: FrrClient) -> dict[str, BgpPath]:
    return {str(one.network): path for one in table(client, "ipv4") for path in one.of(PEER)}


def _seen(path: BgpPath) -> tuple[Any, ...]:
    return (
        path.as_path,
        frozenset(map(plain_community, path.communities or ())),
        path.med or 0,
        path.local_preference or 100,
    )


def _expected(sent: Sent, outcome: Outcome) -> tuple[Any, ...]:
    """The attributes of a permitted route, as the outcome says they were set."""
    given, facts = outcome.given, sent.facts
    communities = frozenset(map(plain_community, given.communities))
    if given.communities_additive or not given.communities:
        communities |= facts.communities or frozenset()
    if BLACKHOLE in communities:
        communities |= {NO_EXPORT}  # bgpd adds it to what another AS wants dropped (RFC 7999)
    return (
        " ".join([*map(str, given.as_path_prepend), facts.as_path or ""]),
        communities,
        facts.metric if given.metric is None else given.metric,
        100 if given.local_preference is None else given.local_preference,
    )


@pytest.mark.parametrize("seed", range(POLICIES))
def test_bgpd_does_what_is_foretold(client: FrrClient, seed: int) -> None:
    policy = Policies(seed).document()
    names = ("p0" if seed % 3 == 1 else None, "m0")
    exchanged = {"prefix_list_in": names[0], "route_map_in": names[1]}
    evaluator = Evaluator(Routing.model_validate(_routing(policy, **exchanged)).policy)
    expected: dict[str, tuple[Any, ...]] = {}
    for sent in SENT:
        (outcome,) = evaluator.outcomes(*names, sent.facts)
        if outcome.permits:
            expected[sent.prefix] = _expected(sent, outcome)
    configure(client, _routing(policy, **exchanged))
    seen: dict[str, tuple[Any, ...]] = {}

    def is_as_foretold() -> bool:
        seen.clear()
        seen.update({prefix: _seen(path) for prefix, path in _table(client).items()})
        return seen == expected

    try:
        wait_until(is_as_foretold, "what was foretold", 20)
    except AssertionError:
        differ = {
            prefix: (expected.get(prefix, "refused"), seen.get(prefix, "refused"))
            for prefix in {*expected, *seen}
            if expected.get(prefix) != seen.get(prefix)
        }
        raise AssertionError(f"foretold and seen: {differ}; policy: {policy}") from None


def test_an_outcome_is_among_those_of_a_route_that_is_known_in_parts(client: FrrClient) -> None:
    """bgpd shows a received route as the policy left it: less is known, but no different statement is
    made.
    """
    for seed in range(POLICIES):
        evaluator = Evaluator(Routing.model_validate(_routing(Policies(seed).document())).policy)
        for sent in SENT:
            (whole,) = evaluator.outcomes(None, "m0", sent.facts)
            for facts in (Facts(sent.facts.prefix), Facts(sent.facts.prefix, as_path=sent.facts.as_path)):
                found = evaluator.outcomes(None, "m0", facts)
                assert (whole.permits, whole.rule) in {(one.permits, one.rule) for one in found}
