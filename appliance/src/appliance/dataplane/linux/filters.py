"""Access lists in the kernel: reading them, and changing them without losing a packet or a count."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from appliance.dataplane.base import DataPlaneError, RuleCounters
from appliance.dataplane.linux.filter_rule import Binding, FilterRule
from appliance.dataplane.linux.ruleset import (
    TABLE,
    binding_chains,
    binding_rules,
    element,
    list_chain,
    reflect_rules,
    rule,
    skeleton,
    within,
)
from appliance.dataplane.linux.ruleset_read import ReadRule, Ruleset, read
from appliance.dataplane.nftables import nft
from appliance.dataplane.nftables.expressions import Json, add

MAX_REFLECTING = 32
"""One bit of the connection mark for each interface."""


class Filters:
    """Our nftables table in one namespace. All methods have to be called inside it.

    Reading is free while the kernel's generation counter is unchanged: the earlier reading still holds.
    """

    def __init__(self) -> None:
        self._read: tuple[int, Ruleset] | None = None

    def ruleset(self) -> Ruleset:
        """The table's content, without fresh counts."""
        generation = nft.generation()
        if self._read is not None and self._read[0] == generation:
            return self._read[1]
        return self.counted()

    def counted(self) -> Ruleset:
        """The table's content, with the current hits of each rule."""
        for _ in range(5):
            generation = nft.generation()
            listing = nft.listing(TABLE)
            if nft.generation() == generation:
                ruleset = read(listing) if listing is not None else Ruleset()
                self._read = (generation, ruleset)
                return ruleset
        raise DataPlaneError("the nftables rules keep changing while they are read")

    def set_list(self, name: str, rules: Sequence[FilterRule] | None) -> None:
        """Write the access list in one transaction; unchanged rules keep their place and their counts."""
        ruleset = self.ruleset()
        existing = ruleset.lists.get(name)
        chain = list_chain(name)
        if rules is None:
            if existing is not None:
                nft.transaction([{"delete": within("chain", name=chain)}])
            return
        commands = [] if ruleset.whole else skeleton()
        commands.append(add(within("chain", name=chain)))
        nft.transaction(commands + _changes(chain, existing or (), rules))

    def set_binding(self, interface: str, wanted: Binding | None) -> None:
        """Bind these access lists, or none, to the interface, in one transaction."""
        ruleset = self.ruleset()
        commands = [] if ruleset.whole else skeleton()
        before = ruleset.bindings.get(interface)
        old = {chain: name for name, chain, _, _ in binding_chains(before)} if before else {}
        bits = {name: bit for name, bit in ruleset.bits.items() if name != interface}
        bit = None
        if wanted is not None and wanted.reflect:
            bit = ruleset.bits.get(interface) or _free_bit(bits)
            bits[interface] = bit
        if bits != ruleset.bits:
            commands.append({"flush": within("chain", name="reflect")})
            commands += [add(item) for item in reflect_rules(bits)]
        for map_name, chain, lists, inbound in binding_chains(wanted) if wanted is not None else []:
            commands.append(add(within("chain", name=chain)))
            commands.append({"flush": within("chain", name=chain)})
            commands += [add(item) for item in binding_rules(chain, lists, inbound, bit)]
            if chain not in old:
                commands.append(add(element(map_name, interface, chain)))
            old.pop(chain, None)
        for chain, map_name in old.items():
            commands.append({"delete": element(map_name, interface, chain)})
            commands.append({"delete": within("chain", name=chain)})
        nft.transaction(commands)

    def hits(self) -> tuple[dict[str, dict[int, RuleCounters]], int]:
        """Hits of each rule by list and sequence, and packets that no rule matched."""
        ruleset = self.counted() if self.ruleset().lists else Ruleset()
        hits = {
            name: {entry.rule.sequence: entry.hits for entry in entries if isinstance(entry.rule, FilterRule)}
            for name, entries in ruleset.lists.items()
        }
        return hits, ruleset.default_drops


def _free_bit(bits: dict[str, int]) -> int:
    taken = set(bits.values())
    for position in range(MAX_REFLECTING):
        if 1 << position not in taken:
            return 1 << position
    raise DataPlaneError(f"at most {MAX_REFLECTING} interfaces can have access lists with permit_reflect")


def _changes(chain: str, existing: tuple[ReadRule, ...], wanted: Sequence[FilterRule]) -> list[Json]:
    """Commands from the present rules to the desired ones.

    Both are in ascending order, unless another program wrote rules: then all are written anew.
    """
    if any(not isinstance(entry.rule, FilterRule) for entry in existing) or not _ascending(existing):
        commands: list[Json] = [{"flush": within("chain", name=chain)}]
        return commands + [add(rule(chain, entry)) for entry in wanted]
    stays = set(wanted)
    keep = {entry.rule: entry.handle for entry in existing if entry.rule in stays}
    commands = [
        {"delete": within("rule", chain=chain, handle=entry.handle)}
        for entry in existing
        if entry.rule not in keep
    ]
    handles: list[int | None] = []
    following: int | None = None
    for entry in reversed(wanted):
        handles.append(following)
        following = keep.get(entry, following)
    for entry, before in zip(wanted, reversed(handles), strict=True):
        if entry in keep:
            continue
        if before is None:
            commands.append(add(rule(chain, entry)))
        else:
            commands.append({"insert": rule(chain, entry, handle=before)})
    return commands


def _ascending(existing: tuple[ReadRule, ...]) -> bool:
    sequences = [entry.rule.sequence for entry in existing if isinstance(entry.rule, FilterRule)]
    return all(one < other for one, other in pairwise(sequences))
