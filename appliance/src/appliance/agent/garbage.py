"""When Python looks for cycles."""

from __future__ import annotations

import gc


def collect_seldom() -> None:
    """Objects that exist now are never examined again, and new ones rarely.

    Reading a document makes tens of thousands of small objects and no cycles: with Python's own thresholds
    every large preview would pay for several useless collections.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
