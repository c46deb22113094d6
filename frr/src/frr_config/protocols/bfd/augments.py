"""BFD in the objects of other protocols: sessions, interfaces and next hops that it monitors (RFC 5882)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from frr_config.augmentation import Augmentation
from frr_config.protocols.bfd.model import BfdProfileName
from frr_config.syntax import Form, by_name
from frr_config.types import Address, Model
from frr_config.version import FrrVersion


class WatchedSession(Model):
    """Of a BGP neighbor or peer group."""

    bfd_profile: BfdProfileName | None = Field(default=None, title="BFD profile")
    """Monitor the path to the neighbor with BFD (RFC 5882): the BGP session goes down with the BFD session.
    """


class WatchedInterface(Model):
    """Of an OSPF interface."""

    bfd_profile: BfdProfileName | None = Field(default=None, title="BFD profile")
    """Monitor the path to each neighbor with BFD (RFC 5882): the adjacency goes down with the BFD session."""


class WatchedNextHop(Model):
    """Of a static route's next hop."""

    bfd_profile: BfdProfileName | None = Field(default=None, title="BFD profile")
    """Monitor the path to the next hop with BFD: the path is used only while its BFD session is up."""
    bfd_multihop: bool = Field(default=False, title="BFD over several hops")
    """The next hop is not directly connected (RFC 5883)."""
    bfd_source: Address | None = Field(default=None, title="BFD source")
    """Local address of a multihop session; unset means the address of the outgoing interface."""

    if TYPE_CHECKING:
        address: Address | None
        """The next hop's own."""

    @model_validator(mode="after")
    def _bfd(self) -> Self:
        if self.bfd_profile is not None and self.address is None:
            raise ValueError("bfd_profile needs the next hop's address")
        if self.bfd_multihop and self.bfd_profile is None:
            raise ValueError("bfd_multihop needs bfd_profile")
        if self.bfd_source is not None and not self.bfd_multihop:
            raise ValueError("bfd_source needs bfd_multihop")
        return self


def profile_of(settings: Model | None) -> str | None:
    """The profile that these settings name; None where nothing is monitored."""
    if isinstance(settings, WatchedSession | WatchedInterface | WatchedNextHop):
        return settings.bfd_profile
    return None


def watched(hop: Model) -> WatchedNextHop | None:
    """The settings of a next hop that is monitored."""
    return hop if isinstance(hop, WatchedNextHop) and hop.bfd_profile is not None else None


def has_next_hops(version: FrrVersion) -> bool:
    """True where BFD can watch a static route's next hop (from FRR 8.5 on)."""
    return (version.major, version.minor) >= (8, 5)


def _lines(settings: Model) -> Iterator[str]:
    if (profile := profile_of(settings)) is not None:
        yield "bfd"
        yield f"bfd profile {profile}"


def _of_next_hop(hop: Model) -> Iterator[str]:
    if (bfd := watched(hop)) is not None:
        source = "" if bfd.bfd_source is None else f" source {bfd.bfd_source}"
        yield f"bfd{f' multi-hop{source}' if bfd.bfd_multihop else ''} profile {bfd.bfd_profile}"


def _lacking(version: FrrVersion) -> str:
    return "" if has_next_hops(version) else f"FRR {version} on this router cannot watch a next hop with BFD"


# The neighbor's end of a removed session goes down, and what relies on it does too.
_FORMS = (Form("bfd$", removal_resets=True), Form("bfd profile", setting=by_name))

AUGMENTS = (
    Augmentation(
        "bfd",
        "BGP session",
        WatchedSession,
        _lines,
        _FORMS,
        why_down={
            "BFD down": (
                "BFD has lost the neighbor",
                "Look at the BFD session with the neighbor: it says why.",
            )
        },
    ),
    Augmentation("bfd", "OSPF interface", WatchedInterface, _lines, _FORMS),
    Augmentation(
        "bfd",
        "next hop",
        WatchedNextHop,
        _of_next_hop,
        (Form(r"bfd(?: multi-hop(?P<source> source \S+)?)?(?: profile \S+)?"),),
        lacking=_lacking,
    ),
)
