"""What every object of the linux data plane has in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Self

from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.dump import Dump
from planner import Declared


def link_token(name: str) -> str:
    """What a link provides to its dependents, whichever kind it is of."""
    return f"interface/{name}"


class LinuxObject(Declared):
    """One thing that the kernel of a namespace can be made to hold. Subclasses are frozen dataclasses.

    What an object declares for planning is :class:`planner.Declared`; what is here reads and changes the
    kernel, inside the namespace. A kind is listed in ``objects/__init__.py``; nothing else has to know it.

    A change may meet what is there already, or is gone already: then it does what is left of it. Raises
    DataPlaneError.
    """

    @property
    def path(self) -> str:
        """JSON pointer of what it serves in the document; empty when there is nothing."""
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
        """Make it. Everything it requires is there."""

    @abstractmethod
    def update(self, before: Self, kernel: Access) -> None:
        """Bring the kernel from ``before`` to this in place."""

    @abstractmethod
    def delete(self, kernel: Access) -> None:
        """Remove it. Nothing depends on it any more."""
