"""From one random document to the next, the router's own rules become those of the next, and read back so."""

from __future__ import annotations

import copy
import random
from itertools import pairwise
from typing import Any

from appliance.config.capabilities import Capabilities
from appliance.dataplane.control_plane.compile import compile_control_plane
from appliance.dataplane.control_plane.policy import ControlPlane
from appliance.dataplane.control_plane.rules import TABLE, changes, whole_table
from appliance.dataplane.control_plane.rules_read import read
from appliance.dataplane.nic import Nic
from tests.property.documents import random_document

NICS = [Nic(f"nic{number}", f"02:00:00:00:00:0{number}", kind="veth") for number in range(4)]
WALKS, DOCUMENTS = 5, 12
Json = dict[str, Any]


class Table:
    """As much of nftables as the rules use; what it would refuse fails here, too."""

    def __init__(self) -> None:
        self.chains: dict[str, Json] = {}
        self.rules: dict[str, list[Json]] = {}
        self.sets: dict[str, Json] = {}
        self.members: dict[str, list[Any]] = {}

    def run(self, commands: list[Json]) -> None:
        """A transaction."""
        for command in commands:
            ((verb, item),) = command.items()
            ((kind, what),) = item.items()
            if kind != "table":
                assert what["table"] == TABLE
            getattr(self, f"_{verb}_{kind}")(what)

    def _add_table(self, what: Json) -> None:
        assert what["name"] == TABLE

    def _delete_table(self, what: Json) -> None:
        assert what["name"] == TABLE
        self.__init__()  # type: ignore[misc]  # as new

    def _add_set(self, what: Json) -> None:
        assert what["name"] not in self.sets
        self.sets[what["name"]], self.members[what["name"]] = what, []

    def _delete_set(self, what: Json) -> None:
        assert f"@{what['name']}'" not in str(self.rules), "a rule still asks the set"
        del self.sets[what["name"]], self.members[what["name"]]

    def _add_element(self, what: Json) -> None:
        for one in what["elem"]:
            assert one not in self.members[what["name"]]
            self.members[what["name"]].append(one)

    def _delete_element(self, what: Json) -> None:
        for one in what["elem"]:
            self.members[what["name"]].remove(one)

    def _add_chain(self, what: Json) -> None:
        self.chains[what["name"]], self.rules[what["name"]] = what, []

    def _flush_chain(self, what: Json) -> None:
        self.rules[what["name"]] = []

    def _add_rule(self, what: Json) -> None:
        for expression in what["expr"]:
            if "goto" in expression:
                assert expression["goto"]["target"] in self.chains
            right = expression.get("match", {}).get("right")
            if isinstance(right, str) and right.startswith("@"):
                assert right[1:] in self.sets
        self.rules[what["chain"]].append(what)

    def listing(self) -> Json:
        """As nftables tells it."""
        items: list[Json] = [{"metainfo": {}}, {"table": {"name": TABLE}}]
        items += [
            {"set": {**one, "elem": [_listed(member) for member in self.members[name]]}}
            for name, one in self.sets.items()
        ]
        items += [{"chain": chain} for chain in self.chains.values()]
        items += [{"rule": rule} for rules in self.rules.values() for rule in rules]
        return copy.deepcopy({"nftables": items})


def _listed(member: Any) -> Any:
    """A prefix that holds one address comes back as the address."""
    if isinstance(member, dict):
        known = member["prefix"]
        return known["addr"] if known["len"] == (128 if ":" in known["addr"] else 32) else member
    return {"elem": {"val": member, "counter": {"packets": 0, "bytes": 0}}}


def _walk(seed: int) -> list[ControlPlane]:
    rng = random.Random(seed)
    can = Capabilities("linux")
    return [compile_control_plane(random_document(rng, can, NICS)) for _ in range(DOCUMENTS)]


def test_every_document_leads_to_every_next() -> None:
    seen: set[tuple[str, str]] = set()
    for seed in range(WALKS):
        table, before = Table(), ControlPlane()
        table.run(whole_table(before))
        for after in _walk(seed):
            table.run(changes(before, after))
            assert read(table.listing()).control_plane == after
            seen |= {(peer.reason, "peer") for peer in after.peers}
            seen |= {(link.reason, "link") for link in after.links}
            seen |= {("management", "") for _ in after.management}
            seen |= {("bgp", "TTL") for peer in after.peers if peer.reason == "bgp" and peer.form != "0"}
            before = after
    assert seen >= {("bgp", "peer"), ("bgp", "TTL"), ("ospf", "link"), ("bfd", "peer"), ("bfd", "link")}
    assert seen >= {("tunnel", "peer"), ("management", "")}


def test_changed_step_by_step_or_made_at_once_it_is_the_same() -> None:
    walk = _walk(7)
    stepwise, at_once = Table(), Table()
    stepwise.run(whole_table(walk[0]))
    for before, after in pairwise(walk):
        stepwise.run(changes(before, after))
    at_once.run(whole_table(walk[-1]))
    assert stepwise.rules == at_once.rules
    assert {name: sorted(map(str, held)) for name, held in stepwise.members.items()} == {
        name: sorted(map(str, held)) for name, held in at_once.members.items()
    }


def test_a_rule_taken_out_put_in_or_changed_is_seen() -> None:
    rng = random.Random(1)
    for wanted in _walk(3):
        table = Table()
        table.run(whole_table(wanted))
        chain = rng.choice(list(table.rules))
        rules = table.rules[chain]
        match rng.randrange(3):
            case 0:
                del rules[rng.randrange(len(rules))]
            case 1:
                rules.insert(rng.randrange(len(rules) + 1), {"chain": chain, "expr": [{"accept": None}]})
            case 2:
                rules[-1] = {**rules[-1], "expr": [{"accept": None}]}
        found = read(table.listing()).control_plane
        assert found != wanted
        # Without one of its rules the chain of management is that of another document.
        assert found.altered or chain == "management"
