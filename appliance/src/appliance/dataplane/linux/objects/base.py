"""What every object of the linux data plane has in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Self

from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.dump import Dump
from planner import Declared


def link_token(name: str) -> str:
    """The token that a link of any kind provides to its dependents."""
    return f"interface/{name}"


class LinuxObject(Declared):
    """One object in the kernel of a namespace. Subclasses are frozen dataclasses.

    :class:`planner.Declared` has what an object declares for planning; the methods here read and change the
    kernel, inside the namespace. A kind is listed in ``objects/__init__.py``; no other file has to know it.

    If part of a change is already made, it does the rest. Raises DataPlaneError.
    """

    @property
    def path(self) -> str:
        """JSON pointer to the object of the document that it serves; empty when there is none."""
        return ""

    def describe_revert(self, before: Self) -> str:
        """``change back interface wan0 on eth1``."""
        return f"change back {self.label()}"

    @classmethod
    @abstractmethod
    def observe(cls, dump: Dump) -> Iterator[LinuxObject]:
        """All objects of this kind that are ours."""

    @abstractmethod
    def create(self, kernel: Access) -> None:
        """Make it. Everything it requires exists."""

    @abstractmethod
    def update(self, before: Self, kernel: Access) -> None:
        """Bring the kernel from ``before`` to this in place."""

    @abstractmethod
    def delete(self, kernel: Access) -> None:
        """Remove it. Nothing depends on it any more."""
