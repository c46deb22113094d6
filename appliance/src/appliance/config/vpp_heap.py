"""What a document takes of VPP's main heap. Pure.

VPP 26.06 ends when its main heap is full, and forwarding with it. What a feature needs was measured, and is
said in its ``memory.py``; what is left is for routes.
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
"""VPP itself, with all plugins and without routes: 34 MB, and some to spare."""


@dataclass(frozen=True)
class HeapUse:
    """What one feature takes, at most. Its ``memory.py`` yields them."""

    what: str
    """In a sentence, with its size: ``access lists (1,024 rules, on 2 interfaces)``."""
    size_bytes: int


def heap_uses(config: RouterConfig, workers: int) -> tuple[HeapUse, ...]:
    """What the features of the document take of the heap, with this many workers beside VPP's main thread."""
    return tuple(_each(config, workers))


def _each(config: RouterConfig, workers: int) -> Iterator[HeapUse]:
    for uses in declared("memory", "heap_uses"):
        yield from uses(config, workers)


def taken_bytes(uses: tuple[HeapUse, ...], portion_bytes: int = 1) -> int:
    """All of them together, up to the next whole portion."""
    return -(-sum(use.size_bytes for use in uses) // portion_bytes) * portion_bytes
