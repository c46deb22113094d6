# ruff: noqa: ARG002 - methods of one interface, of which not every object needs every argument
"""What every object of VPP's configuration has in common, and what every interface has."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import ConfigDict

if TYPE_CHECKING:
    from vpp_config.access import Access
    from vpp_config.dumps import Dumps

Family = Literal["ipv4", "ipv6"]

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$")
_MAC = re.compile(r"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$")


def check_name(name: str) -> None:
    """Raise ``ValueError`` unless the name can be a tag: 1 to 48 of ``A-Za-z0-9._-``."""
    if not _NAME.match(name):
        raise ValueError(f"{name!r} is not a name of 1 to 48 letters, digits, '.', '_', '-'")


def check_mac(mac: str) -> str:
    """The canonical spelling of a unicast MAC; raises ``ValueError``."""
    mac = mac.lower()
    if not _MAC.match(mac) or int(mac[:2], 16) & 1 or mac == "00:00:00:00:00:00":
        raise ValueError(f"{mac!r} is not a unicast MAC address such as 02:00:00:00:00:01")
    return mac


def interface_token(name: str) -> str:
    """What an interface provides to its dependents, whichever kind it is of."""
    return f"interface/{name}"


class VppObject(ABC):
    """One thing that VPP can be made to hold. Subclasses are frozen dataclasses.

    The first half of the methods is pure and is all that planning uses; the second half acts on VPP.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    kind: ClassVar[str]
    """The part of :attr:`key` before the first slash."""

    @property
    @abstractmethod
    def key(self) -> str:
        """Identity: two states mean the same thing by the same key."""

    @property
    def provides(self) -> str:
        """The token that dependents name."""
        return self.key

    @abstractmethod
    def label(self) -> str:
        """The object in a sentence: "interface wan0"."""

    def requires(self) -> tuple[str, ...]:
        """Tokens of the objects without which this one cannot be."""
        return ()

    def follows(self) -> tuple[str, ...]:
        """Tokens of the objects that, where they exist, must be there before this one.

        When one of these, or of those in :meth:`requires`, is made or removed, this object is made anew.
        """
        return ()

    def needs_recreate(self, before: Self) -> bool:
        """Whether VPP cannot be brought from ``before`` to this in place."""
        return True

    def removal_impact(self) -> str:
        """What traffic notices when this goes away: ``none`` or ``loses packets on <interface>``."""
        return "none"

    def update_impact(self, before: Self) -> str:
        """What traffic notices of an update in place."""
        return "none"

    def describe_update(self, before: Self) -> str:
        """Imperative summary of the update in place."""
        return f"change {self.label()}"

    @abstractmethod
    def create(self, vpp: Access) -> None:
        """Make it. Everything it requires is there."""

    def update(self, before: Self, vpp: Access) -> None:
        """Bring VPP from ``before`` to this in place. Never called where :meth:`needs_recreate` says so."""
        raise TypeError(f"{self.label()} cannot be changed in place")

    @abstractmethod
    def delete(self, vpp: Access) -> None:
        """Remove it. Nothing depends on it any more."""

    @classmethod
    @abstractmethod
    def observe(cls, dumps: Dumps) -> Iterator[VppObject]:
        """All objects of this kind that are ours, from what VPP told."""


class Interface(VppObject):
    """An object that packets enter and leave by: it has a name of ours, an MTU and an administrative
    state.
    """

    name: str
    mtu: int
    enabled: bool

    @property
    def key(self) -> str:
        """``<kind>/<name>``."""
        return f"{self.kind}/{self.name}"

    @property
    def provides(self) -> str:
        """Interfaces share one set of names, whatever their kind."""
        return interface_token(self.name)

    @property
    def parent_name(self) -> str | None:
        """The interface this one is part of."""
        return None

    def label(self) -> str:
        """``interface wan0``."""
        return f"interface {self.name}"

    def adopt(self, observed: Interface) -> Interface:
        """This object with what it leaves to VPP filled in from what VPP chose."""
        return self

    def removal_impact(self) -> str:
        """Its packets are lost while it is gone."""
        return f"loses packets on {self.name}" if self.enabled else "none"

    def update_impact(self, before: Self) -> str:
        """Going down loses packets; a lower MTU loses those that were too long."""
        if before.enabled and (not self.enabled or self.mtu < before.mtu):
            return f"loses packets on {self.name}"
        return "none"

    def describe_update(self, before: Self) -> str:
        """Planning changes either the state or the MTU in one step, never both."""
        if self.enabled != before.enabled:
            return f"{'enable' if self.enabled else 'disable'} {self.label()}"
        return f"set the MTU of {self.label()} to {self.mtu}"
