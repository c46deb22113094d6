"""What a feature needs from the machine's kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class KernelNeed:
    """A kind of interface that needs a kernel able to create a certain kind of link."""

    interface: str
    """Kind of interface, as the document calls it."""
    link: str
    """Kind of link, as the kernel calls it."""
    reason: str
    """Why the interface is refused if the kernel cannot: a sentence."""


def lacking(needs: Iterable[Iterable[KernelNeed]], supported: Callable[[str], bool]) -> dict[str, str]:
    """The kinds of interface that cannot be made here, each with its reason. ``needs`` are the features'.

    ``supported`` says whether the kernel can make a kind of link.
    """
    return {need.interface: need.reason for feature in needs for need in feature if not supported(need.link)}
