"""What a feature needs of the machine: of its kernel, or of what runs beside the data plane."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

FEEDER = "feeder"
"""Stands for a kind of link: the FIB feeder that carries the routes."""


@dataclass(frozen=True)
class KernelNeed:
    """A kind of interface that can be made only where the kernel can make links of a kind."""

    interface: str
    """Kind of interface, as the document calls it."""
    link: str
    """Kind of link, as the kernel calls it; or ``FEEDER``."""
    reason: str
    """Why the interface is refused where the kernel cannot, a sentence."""


def lacking(
    needs: Iterable[Iterable[KernelNeed]], supported: Callable[[str], bool], *, feeder: bool = False
) -> dict[str, str]:
    """The reason by kind of interface, of those that cannot be made here. ``needs`` are the features'.

    ``supported`` says whether the kernel can make a kind of link.
    """
    return {
        need.interface: need.reason
        for feature in needs
        for need in feature
        if not (feeder if need.link == FEEDER else supported(need.link))
    }
