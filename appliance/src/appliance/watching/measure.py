"""A measure reads sessions or traffic, cheaply, and compares two readings, purely."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from appliance.config.document import RouterConfig
from appliance.impact.result import Kind

if TYPE_CHECKING:
    from appliance.agent.router import Router
    from appliance.dataplane.base import Traffic
    from appliance.dataplane.route_answer import RouteAnswer
    from appliance.routing.view import VrfRoutingView

Reading = dict[str, Any]
"""A reading, by object. JSON, so that it outlives the agent."""
R = TypeVar("R", bound=Mapping[str, Any])
DATA_PLANE = "data plane"
"""The source of measures that read packets and links."""
LASTS_S = 5.0
"""Forwarding and links recover within moments; a worsening counts once it has lasted this long."""


@dataclass(frozen=True)
class Asked:
    """The sources a measure reads, and the documents it reads under."""

    router: Router
    after: RouterConfig
    """The document that is being committed, or runs."""
    before: RouterConfig | None = None
    """The document before the commit; None once it is made."""
    first: Reading | None = None
    """The reading before the commit; None when this is that reading."""
    within_s: float = 1.0
    """Answers later than this are left out of the reading."""
    vrf: str = ""
    """The VRF that is read; both documents are then as it sees them."""

    @property
    def is_before_commit(self) -> bool:
        """Whether a commit is about to change what is read."""
        return self.before is not None

    @property
    def routing(self) -> VrfRoutingView:
        """The routing daemons in this VRF."""
        return self.router.routing.in_vrf(self.vrf)

    @cached_property
    def traffic(self) -> Traffic:
        """Packets through the router, read once for all measures that are read together."""
        return self.router.dataplane.traffic()

    def fib(self, destinations: Sequence[str]) -> Sequence[RouteAnswer]:
        """See DataPlane, in this VRF."""
        return self.router.dataplane.fib(destinations, self.router.vrf_table(self.vrf or None))


@dataclass(frozen=True)
class Span(Generic[R]):
    """Two readings of counters, for rates."""

    earlier: R
    later: R
    elapsed_s: float

    def per_s(self, *path: str) -> float:
        """How fast a counter grows; a missing counter is 0, and one that fell was restarted."""
        now, then = _at(self.later, path), _at(self.earlier, path)
        return max(now - then if now >= then else now, 0) / self.elapsed_s if self.elapsed_s > 0 else 0.0


def _at(reading: Mapping[str, Any], path: tuple[str, ...]) -> float:
    value: Any = reading
    for name in path:
        value = value.get(name, 0) if isinstance(value, Mapping) else 0
    return float(value) if isinstance(value, (int, float)) else 0.0


@dataclass(frozen=True)
class Comparison(Generic[R]):
    """The input of a measure's judgement."""

    before: R
    now: R
    after: RouterConfig
    """The document that was committed."""
    rates_before: Span[R] | None = None
    """Counters of the last seconds before the commit; None if nothing was counted then."""
    rates_now: Span[R] | None = None
    """Counters of the last seconds; None during the first seconds."""


@dataclass(frozen=True)
class Worse:
    """Something that is worse than before. Its texts may contain text from other routers."""

    object: str
    text: str
    """A sentence."""
    before: str = ""
    after: str = ""
    path: str = ""
    asked_for: bool = False
    """The commit removed or disabled the object itself."""
    lasts_s: float | None = LASTS_S
    """It counts once it has lasted this long. None: only at the end of the watch; until then it may
    recover."""
    kinds: tuple[Kind, ...] = ()
    words: tuple[str, ...] = field(default=())
    """A finding of one of these kinds foretold it if it is about the path, or has the object or one of these
    in its text."""


@dataclass(frozen=True)
class Measure(Generic[R]):
    """One thing to compare. A feature declares its own in ``MEASURES`` of its ``watch.py``."""

    name: str
    """In words: ``links``."""
    rule: str
    """When it counts as worse: a sentence for the user."""
    reads: Callable[[Asked], R]
    """Called about once a second while a commit is watched, in a thread of its own: it may read only what is
    cheap at any table size, and holds up neither zebra nor a commit. Raises MillraceError when it cannot be
    read."""
    compares: Callable[[Comparison[R]], Iterable[Worse]]
    """Pure."""
    shows: Callable[[R], str]
    """The reading in a few words."""
    concerns: Callable[[RouterConfig], bool]
    """Whether there is anything to compare under this document."""
    counts: bool = False
    """It reads counters: these are also read from time to time between commits, for their rates before a
    commit."""
    ahead: bool = False
    """It waits for other systems, and reads only under the document before: before a commit it is read while
    the router is observed; other measures are read after that."""
    asks: str = ""
    """The source it asks: measures with the same source are read one after the other. Empty: it shares
    none."""


AnyMeasure = Measure[Any]


@dataclass(frozen=True)
class Probe:
    """An address that the router pings. Features declare theirs in ``probes`` of their ``watch.py``."""

    address: str
    what: str
    """With its article: ``the next hop 192.0.2.1``."""
    path: str
    vrf: str | None = None
    """The VRF of the address: None for the VRF that was asked about, empty for the default one."""


Probes = Callable[[RouterConfig], Iterator[Probe]]
