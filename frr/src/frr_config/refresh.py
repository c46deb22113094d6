"""Making routes that are already there follow a change that bgpd or ospfd would only apply to new ones.

bgpd applies changed route maps, and what they name, by itself after ``bgp route-map delay-timer``. It does
not look again at routes it received when a prefix list of ``neighbor ... prefix-list ... in`` changes. A soft
clear asks the neighbor for its routes again; it is no reset.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from frr_config.config import Line
from frr_config.objects import ObjectKey, is_address
from frr_config.ownership import Daemons
from frr_config.step import Command

Holders = Mapping[Line, Daemons]


def refreshes(
    key: ObjectKey, touched: Iterable[Line], before: Holders, after: Holders
) -> tuple[Command, ...]:
    """Operational commands that follow the change of an object, done or undone."""
    if key.kind == "prefix_list":
        return tuple(_soft_in(key.name, before, after))
    texts = [line.text for line in touched]
    if Line((), key.root) not in before or Line((), key.root) not in after:
        return ()
    if key.kind == "bgp" and "no bgp ebgp-requires-policy" in texts:
        return (Command(("bgpd",), (), "clear bgp * soft", "exec"),)
    if key.kind == "ospf" and any(text.startswith("ospf router-id ") for text in texts):
        return (Command(("ospfd",), (), "clear ip ospf process", "exec"),)
    return ()


def _soft_in(prefix_list: str, before: Holders, after: Holders) -> Iterator[Command]:
    name = prefix_list.split()[1]
    family = "ipv6" if prefix_list.startswith("ipv6 ") else "ipv4"
    ends = f" prefix-list {name} in"
    for line in sorted(before.keys() & after.keys()):
        if line.text.endswith(ends) and line.context[1:] == (f"address-family {family} unicast",):
            neighbor = line.text.split()[1]
            who = neighbor if is_address(neighbor) else f"peer-group {neighbor}"
            yield Command(("bgpd",), (), f"clear bgp {family} unicast {who} soft in", "exec")
