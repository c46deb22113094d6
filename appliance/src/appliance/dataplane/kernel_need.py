"""What a feature needs of the machine's kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class KernelNeed:
    """A kind of interface that can be made only where the kernel can make links of a kind."""

    interface: str
    """Kind of interface, as the document calls it."""
    link: str
    """Kind of link, as the kernel calls it."""
    reason: str
    """Why the interface is refused where the kernel cannot, a sentence."""


def lacking(needs: Iterable[Iterable[KernelNeed]], supported: Callable[[str], bool]) -> dict[str, str]:
    """The reason by kind of interface, of those that this kernel cannot make. ``needs`` are the features'."""
    return {need.interface: need.reason for feature in needs for need in feature if not supported(need.link)}
