"""What every object of VPP's configuration has in common, and what every interface has."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar, Literal, Self

from pydantic import ConfigDict

from planner import Declared
from vpp_config.access import Access
from vpp_config.client import Request
from vpp_config.dumps import Dumps, InterfaceRow
from vpp_config.leftover import Leftover
from vpp_config.tokens import interface_token

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


class VppObject(Declared):
    """One thing that VPP can be made to hold. Subclasses are frozen dataclasses.

    What an object declares for planning is :class:`planner.Declared`; what is here reads and changes VPP.
    A kind is listed in ``objects/__init__.py``, and nothing else has to know it.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    kind: ClassVar[str]
    """The part of :attr:`key` before the first slash, and the object's name in JSON."""

    mirrored: ClassVar[bool] = False
    """Whether the Linux mirror of an interface shows it: one that outlives VPP is as wanted where all such
    objects are the same.
    """

    # -- reading

    plugins: ClassVar[tuple[str, ...]] = ()
    """Plugins of VPP that the kind cannot be without; what all need is in ``startup_conf``."""
    no_drops: ClassVar[frozenset[str]] = frozenset()
    """What nodes that serve the kind count under ``/err`` though no packet is lost, in VPP's words."""
    tables: ClassVar[tuple[Request, ...]] = ()
    """What observing the kind asks VPP once. A message that VPP does not know is answered by nothing."""

    @classmethod
    def of_interface(cls, row: InterfaceRow) -> tuple[Request, ...]:
        """What observing the kind asks VPP about each interface of ours."""
        return ()

    @classmethod
    @abstractmethod
    def observe(cls, dumps: Dumps) -> Iterator[VppObject]:
        """All objects of this kind that are ours, from the answers to what the kind asked."""

    def index_in(self, dumps: Dumps) -> int | None:
        """VPP's index of the observed object, for what is addressed by one."""
        return None

    def host_mac(self) -> tuple[str, str] | None:
        """A Linux interface of VPP's namespace and the MAC address that creating this object gives it."""
        return None

    # -- what an interrupted apply leaves

    clears: ClassVar[tuple[str, ...]] = ()
    """Leftovers that this kind knows how to remove: ``Leftover.blocks`` up to the first slash."""

    @classmethod
    def clear(cls, leftover: Leftover, vpp: Access) -> None:
        """Remove a leftover of :attr:`clears`."""
        raise TypeError(f"{leftover.label()} is cleared by another kind")

    @classmethod
    def occupied_by(cls, row: InterfaceRow, dumps: Dumps) -> str | None:
        """What :meth:`occupies` would be of an interface that VPP has, if it is of this kind."""
        return None

    @classmethod
    def duplicates(cls, dumps: Dumps) -> Iterator[Leftover]:
        """Second things under one tag of ours, but for interfaces."""
        yield from ()

    # -- changing

    gone: ClassVar[Mapping[str, frozenset[int]]] = {}
    """Message -> return values by which VPP says that what is to be removed is not there."""

    @abstractmethod
    def create(self, vpp: Access) -> None:
        """Make it. Everything it requires is there."""

    def update(self, before: Self, vpp: Access) -> None:
        """Bring VPP from ``before`` to this in place. Never called where :meth:`needs_recreate` says so."""
        raise TypeError(f"{self.label()} cannot be changed in place")

    @abstractmethod
    def delete(self, vpp: Access) -> None:
        """Remove it. Nothing depends on it any more."""


class Interface(VppObject):
    """An object that packets enter and leave by: it has a name of ours, an MTU and an administrative
    state.
    """

    name: str
    mtu: int
    enabled: bool

    mirrored = True
    takes_vlans: ClassVar[bool] = False
    """Whether a sub-interface can be on it."""

    @property
    def key(self) -> str:
        """``<kind>/<name>``."""
        return f"{self.kind}/{self.name}"

    @property
    def provides(self) -> str:
        """Interfaces share one set of names, whatever their kind."""
        return interface_token(self.name)

    def label(self) -> str:
        """``interface wan0``."""
        return f"interface {self.name}"

    @property
    def carries(self) -> bool:
        """While it is enabled."""
        return self.enabled

    def quiet(self) -> Self:
        """The interface disabled."""
        return replace(self, enabled=False)  # type: ignore[type-var]  # the subclasses are dataclasses

    def adopt(self, observed: Self) -> Self:
        """This object with what it leaves to VPP filled in from what VPP chose."""
        return self

    def resolve(self, seen: Self | None, beside: Mapping[str, Declared]) -> Self:
        """Down where what it is inside of is down: VPP would refuse."""
        item = self if seen is None else self.adopt(seen)
        outer = beside.get(self.inside() or "")
        while outer is not None:
            if not outer.carries:
                return item.quiet() if item.enabled else item
            outer = beside.get(outer.inside() or "")
        return item

    def shrinks(self, before: Self) -> bool:
        """A lower MTU comes before that of the outer interface: VPP clamps the inner one to it."""
        return self.mtu < before.mtu

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

    def index_in(self, dumps: Dumps) -> int | None:
        """By our name."""
        return dumps.indexes.get(self.name)
