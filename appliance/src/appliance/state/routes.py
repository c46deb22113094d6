"""Routes: RIB, kernel and FIB side by side."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from appliance.state.part import Answer, Number, OfVrf, Part


def _destination(text: str) -> str:
    """Behind the ``%`` of a zone Python takes any text."""
    try:
        if "%" in text:
            raise ValueError
        return str(ip_network(text, strict=False) if "/" in text else ip_address(text))
    except ValueError:
        raise PydanticCustomError("destination", "must be an address or a prefix") from None


def _gateway(text: str) -> str:
    try:
        if "%" in text:
            raise ValueError
        return str(ip_address(text))
    except ValueError:
        raise PydanticCustomError("gateway", "must be an address") from None


Destination = Annotated[str, StringConstraints(max_length=64), AfterValidator(_destination)]
"""An address or a prefix, in its canonical form."""
Gateway = Annotated[str, StringConstraints(max_length=64), AfterValidator(_gateway)]
"""An address, in its canonical form."""


def of_one_prefix(wanted: bool, given: ValidationInfo) -> bool:
    """Checks that only one of longest, within and covering is set, and only beside a prefix."""
    if wanted and given.data.get("prefix", "") is None:
        raise PydanticCustomError("of_a_prefix", "needs a prefix or an address")
    if wanted and any(given.data.get(other) for other in ("longest", "within", "covering")):
        raise PydanticCustomError("of_a_prefix", "longest, within and covering exclude each other")
    return wanted


def of_the_prefix(family: str | None, given: ValidationInfo) -> str | None:
    """A check of the family that is asked for beside a prefix."""
    prefix = given.data.get("prefix")
    if None not in (family, prefix) and (family == "ipv6") != (":" in str(prefix)):
        raise PydanticCustomError("family", "must be the family of the prefix")
    return family


class RoutesQuery(OfVrf):
    """Which routes."""

    prefix: Destination | None = Field(
        None,
        description="An address, for the route that packets to it take, or a prefix, for its own route.",
    )
    longest: bool = Field(False, description="Of a prefix: the route that its first address takes.")
    within: bool = Field(False, description="Of a prefix: the list of it and longer ones inside it.")
    covering: bool = Field(
        False, description="Of an address or a prefix: every route that contains it, the longest first."
    )
    next_hop: Gateway | None = Field(None, description="Only routes with a path to this next hop.")
    protocol: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,20}$")] | None = Field(
        None, description="Only routes of this protocol."
    )
    family: Literal["ipv4", "ipv6"] | None = Field(None, description="Only this address family.")
    offset: int = Field(0, ge=0, le=10_000_000, description="Number to skip from the start.")
    limit: int = Field(100, ge=1, le=1000, description="Routes in one page.")

    _which = field_validator("longest", "within", "covering")(of_one_prefix)
    _family = field_validator("family")(of_the_prefix)

    @property
    def is_list(self) -> bool:
        """Whether the question is for many routes."""
        return self.prefix is None or self.within or self.covering


class RibHop(Answer):
    """One path of a route as FRR has it."""

    address: str | None = None
    interface: str | None = None
    weight: Number = 1
    active: bool = False
    recursive: bool = False
    blackhole: bool = False


class TableHop(Answer):
    """One path of a route in the kernel or the data plane's FIB."""

    address: str | None = None
    interface: str | None = None
    weight: Number | None = None
    kind: str | None = Field(None, description="Where there is no next hop: blackhole, local and the like.")


class RouteState(Answer):
    """One prefix in RIB, kernel and data plane's FIB; null where a table lacks it or did not tell."""

    prefix: str
    family: Literal["ipv4", "ipv6"]
    protocol: str = Field(description="Empty where FRR does not know the route.")
    distance: Number | None = None
    metric: Number | None = None
    uptime: str | Number | None = None
    rib: tuple[RibHop, ...] | None = None
    kernel: tuple[TableHop, ...] | None = None
    fib: tuple[TableHop, ...] | None = None
    untold: dict[str, str] = Field({}, description="Why a table did not answer: by `kernel` or `fib`.")
    consistent: bool
    disagreement: str = Field("", description="Where the tables differ, in a sentence.")


class RouteCount(Answer):
    """Routes of one protocol."""

    rib: int = Field(description="Known to FRR.")
    fib: int = Field(description="Of these, installed.")


class Routes(Answer):
    """A page of the list of routes, or the answer for one prefix or address."""

    routes: tuple[RouteState, ...]
    total: int = Field(description="Routes in this list; those in `unlisted` come on top.")
    note: str = Field("", description="What is not in the list, and why; empty when it is whole.")
    unlisted: dict[str, int] = Field({}, description="Routes that were counted and not listed, by family.")
    counts: dict[str, dict[str, RouteCount]] = Field({}, description="Of a list: by family and protocol.")
    age_s: Number = Field(0, description="Seconds since the list was read.")
    list_limit: int = Field(
        description="Lists are shown up to this number of routes of a family, or of one of its protocols."
    )
    offset: int
    limit: int


ROUTES = Part(
    "routes",
    "RIB, kernel and data plane FIB side by side.\n\n"
    "Lists are shown of up to `list_limit` routes of a family, or of one of its protocols, and of any number "
    "where the FIB feeder carries the routes. A prefix, an address and the routes that cover it are "
    "answered whatever the size of the table.",
    RoutesQuery,
    Routes,
    lambda router, question: router.routes(question),
    # Lists take long: a question for one route does not wait for them.
    command="route",
    lane=lambda question: "route lists" if question.is_list else "routes",
)
