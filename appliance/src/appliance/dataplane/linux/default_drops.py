"""Packets that no rule of an interface's access lists matched, read without listing the lists themselves."""

from __future__ import annotations

from appliance.dataplane.linux.ruleset import TABLE
from appliance.dataplane.nftables.chain_counts import chains, last_count

_DIRECTIONS = {"in-": "received on", "out-": "sent on"}


def default_drops() -> dict[str, int]:
    """The drops of the last rule of each interface's chain, in words. Called inside the namespace.

    Raises DataPlaneError.
    """
    found = {}
    for chain in chains(TABLE):
        for prefix, words in _DIRECTIONS.items():
            if chain.startswith(prefix):
                interface = chain.removeprefix(prefix)
                found[f"no access list rule matched packets {words} {interface}"] = last_count(TABLE, chain)
    return found
