"""Interfaces' use of VPP's main heap. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.document import RouterConfig
from appliance.config.vpp_heap import HeapUse

_INTERFACE_BYTES = 16_384
"""With VPP 26.06 a loopback took 10 KB. The rings of a mirror are packet buffers, not part of the heap."""


def heap_uses(config: RouterConfig, workers: int) -> Iterator[HeapUse]:  # noqa: ARG001 - the same for any number
    """All kinds alike."""
    if config.interfaces:
        count = len(config.interfaces)
        yield HeapUse(f"{count:,} interface{'s'[: count != 1]}", count * _INTERFACE_BYTES)
