"""Facts about the live router, read only when an analysis asks for them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pydantic import ValidationError

from appliance.errors import MillraceError
from appliance.impact.deadline import Deadline

if TYPE_CHECKING:
    from appliance.dataplane.base import DataPlane
    from appliance.routing.rows import Family
    from appliance.routing.view import VrfRoutingView

log = logging.getLogger(__name__)
T = TypeVar("T")


Samples = Callable[["Family", str], Sequence[str]]
"""Prefixes of BGP routes of a family in a VRF, sampled at equal distances. May raise BackendUnavailable."""


@dataclass(frozen=True)
class Live:
    """The live router as facts are read from it."""

    dataplane: DataPlane
    routing: VrfRoutingView
    samples: Samples | None = None
    """Set if lists of any length are cheap to read: lists too long to examine whole are sampled by it."""
    vrf: str = ""


@dataclass(frozen=True, eq=False)
class Fact(Generic[T]):
    """Something the live router shows. The reading is short on a router of any size."""

    name: str
    """Its name in a sentence: ``the links of interfaces``."""
    read: Callable[[Live], T]
    """Raises MillraceError when the router does not answer."""


class Facts(Protocol):
    """The facts an analysis may ask for."""

    def in_vrf(self, vrf: str) -> Facts:
        """The facts of another VRF; empty: the default one."""

    def of(self, fact: Fact[T]) -> T | None:
        """None when the router does not answer; ``untold`` then says so."""

    @property
    def untold(self) -> Mapping[str, str]:
        """Why a fact is unknown, by its name."""


class LiveFacts:
    """Reads each fact once, in a thread of ``readers``, and waits for all of them until the deadline."""

    def __init__(self, live: Live, readers: Executor, deadline: Deadline) -> None:
        self._live, self._readers = live, readers
        self._deadline = deadline
        self._known: dict[Fact[Any], Any] = {}
        self._where = ""
        self.untold: dict[str, str] = {}

    def in_vrf(self, vrf: str) -> Facts:
        """See Facts. Facts unknown in that VRF are noted here, too."""
        if not vrf:
            return self
        facts = LiveFacts(
            replace(self._live, routing=self._live.routing.in_vrf(vrf), vrf=vrf),
            self._readers,
            self._deadline,
        )
        facts._where, facts.untold = f" in VRF {vrf}", self.untold
        return facts

    def of(self, fact: Fact[T]) -> T | None:
        """Waits for the router."""
        if fact not in self._known:
            self._known[fact] = self._read(fact)
        known: T | None = self._known[fact]
        return known

    def _read(self, fact: Fact[T]) -> T | None:
        future = self._readers.submit(fact.read, self._live)
        try:
            return future.result(self._deadline.left_s)
        except TimeoutError:
            future.cancel()
            self.untold[fact.name + self._where] = "there was no answer in time"
        except ValidationError as error:
            log.warning("%s: what was read is not as it should be: %s", fact.name, error)
            self.untold[fact.name + self._where] = "the answer was not as it should be"
        except MillraceError as error:
            self.untold[fact.name + self._where] = str(error)
        return None


class ToldFacts:
    """Facts known beforehand."""

    def __init__(
        self, known: Mapping[Fact[Any], Any] | None = None, vrfs: Mapping[str, Facts] | None = None
    ) -> None:
        self._known, self._vrfs = dict(known or {}), dict(vrfs or {})
        self.untold: dict[str, str] = {}

    def in_vrf(self, vrf: str) -> Facts:
        """As they were told of it."""
        return self._vrfs.setdefault(vrf, ToldFacts()) if vrf else self

    def of(self, fact: Fact[T]) -> T | None:
        """As it was told."""
        if fact not in self._known:
            self.untold[fact.name] = "nobody told it"
        known: T | None = self._known.get(fact)
        return known
