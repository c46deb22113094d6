"""A document's use of VPP's main heap. Pure.

When its main heap is full VPP 26.06 ends, and forwarding with it. The need of each feature was measured and
is in its ``memory.py``; the rest is for routes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from appliance.features.registry import declared

if TYPE_CHECKING:
    from appliance.config.document import RouterConfig

MIB = 1 << 20
ALL_ELSE_BYTES = 40 * MIB
"""VPP itself, with all plugins and without routes: 34 MB, plus a margin."""


@dataclass(frozen=True)
class HeapUse:
    """The most that one feature takes. Its ``memory.py`` yields them."""

    what: str
    """In a sentence, with its size: ``access lists (1,024 rules, on 2 interfaces)``."""
    size_bytes: int


def heap_uses(config: RouterConfig, workers: int) -> tuple[HeapUse, ...]:
    """The features' use of the heap, with this many workers besides VPP's main thread."""
    return tuple(_each(config, workers))


def _each(config: RouterConfig, workers: int) -> Iterator[HeapUse]:
    for uses in declared("memory", "heap_uses"):
        yield from uses(config, workers)


def taken_bytes(uses: tuple[HeapUse, ...], portion_bytes: int = 1) -> int:
    """Their sum, rounded up to the next whole portion."""
    return -(-sum(use.size_bytes for use in uses) // portion_bytes) * portion_bytes
