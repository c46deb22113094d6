"""How this package talks to VPP: the protocol that the real client and the fake one both keep.

Replies are objects with one attribute for each field of the API message. Values are those of vpp_papi:
integers, ``str``, ``ipaddress`` objects for addresses and prefixes, ``str()``-able MAC addresses,
enumerations as integers. One exception, for speed and typing: the ``r`` of ``acl_add_replace`` and of
``acl_details`` is a sequence of :class:`vpp_config.objects.AclRule`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from vpp_config.errors import VppError

Reply = Any


@dataclass(frozen=True)
class Request:
    """One API message: its name and its fields (those left out are zero, or the API's default)."""

    name: str
    fields: Mapping[str, Any]


def request(name: str, /, **fields: Any) -> Request:
    """Write a request as a call is written."""
    return Request(name, fields)


class VppClient(Protocol):
    """A connection to one VPP, made when first needed and made again after VPP restarts."""

    @property
    def netlink_settle_s(self) -> float:
        """How long linux_nl takes, at most, to hear what Linux just did to its routes. It reads in batches
        and tells nobody when it is done, so waiting is all there is.
        """

    @property
    def connected(self) -> bool:
        """Whether VPP is there. Never blocks, never raises."""

    @property
    def generation(self) -> int:
        """Grows at each (re)connect. What VPP called things (its indexes) holds only within one
        generation.
        """

    def connect(self) -> int:
        """Connect unless connected; returns the generation. Raises :class:`VppUnavailable`."""

    def supports(self, name: str) -> bool:
        """Whether the connected VPP knows the message: its plugin is loaded and its version fits."""

    def call(self, name: str, **fields: Any) -> Reply:
        """One request, one reply. Raises :class:`VppApiError` for a negative ``retval``,
        :class:`VppUnavailable`.
        """

    def dump(self, name: str, **fields: Any) -> list[Reply]:
        """One request, all its details. Raises as :meth:`call` does."""

    def stream(self, name: str, **fields: Any) -> Iterator[Reply]:
        """Like :meth:`dump`, one detail at a time as it arrives, for tables too large to hold.

        Nothing else waits for its reader, who may stop early. Plain dumps only.
        """

    def pipeline(
        self, requests: Sequence[Request], *, generation: int | None = None
    ) -> list[Reply | list[Reply] | VppError]:
        """Send all, then gather one answer for each, in the order of the requests.

        An answer is a reply, a list of details, or the :class:`VppApiError` that VPP answered with: later
        requests have been done nevertheless. With ``generation`` given, raises :class:`VppUnavailable`
        before sending when VPP was reconnected since.
        """

    def close(self) -> None:
        """Give the connection up. A later call connects again."""
