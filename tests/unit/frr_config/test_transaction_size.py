"""How much one transaction of a daemon holds."""

from __future__ import annotations

from frr_config.step import Command
from frr_config.transaction import MOST_ENTRIES, MOST_LINES, _portions


def _sizes(texts: list[str], most_entries: int = MOST_ENTRIES) -> list[int]:
    commands = [Command((), (), text) for text in texts]
    portions = list(_portions(commands, most_entries))
    assert [one for portion in portions for one in portion] == commands
    return [len(portion) for portion in portions]


def test_entries_of_prefix_lists_come_in_small_transactions() -> None:
    entries = [f"ip prefix-list big seq {n} permit 10.0.0.0/8" for n in range(2 * MOST_ENTRIES + 1)]
    assert _sizes(entries) == [MOST_ENTRIES, MOST_ENTRIES, 1]
    assert _sizes(entries, MOST_LINES) == [len(entries)]
    assert _sizes([line.replace("ip ", "ipv6 ") for line in entries[:3]]) == [3]


def test_other_lines_fill_a_transaction() -> None:
    rules = [f"route-map one permit {n}" for n in range(MOST_LINES + 1)]
    assert _sizes(rules) == [MOST_LINES, 1]
    assert _sizes([]) == []
