"""The protocol between this package and VPP, implemented by the real client and the fake one.

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
    """One API message: its name and its fields (omitted fields are zero, or the API's default)."""

    name: str
    fields: Mapping[str, Any]


def request(name: str, /, **fields: Any) -> Request:
    """Write a request in the form of a function call."""
    return Request(name, fields)


class VppClient(Protocol):
    """A connection to one VPP, made when first needed and again after VPP restarts."""

    @property
    def netlink_settle_s(self) -> float:
        """The longest time that linux_nl takes to process Linux's latest changes to its routes. It reads
        in batches and does not report completion, so waiting is the only way.
        """

    @property
    def connected(self) -> bool:
        """Whether VPP is reachable. Never blocks, never raises."""

    @property
    def generation(self) -> int:
        """Grows at each (re)connect. VPP's indexes are valid only within one generation."""

    def connect(self) -> int:
        """Connect unless connected; returns the generation. Raises :class:`VppUnavailable`."""

    def supports(self, name: str) -> bool:
        """Whether the connected VPP knows the message: its plugin is loaded and its version matches."""

    def call(self, name: str, **fields: Any) -> Reply:
        """One request, one reply. Raises :class:`VppApiError` for a negative ``retval``,
        :class:`VppUnavailable`.
        """

    def dump(self, name: str, **fields: Any) -> list[Reply]:
        """One request, all its details. Raises as :meth:`call` does."""

    def stream(self, name: str, **fields: Any) -> Iterator[Reply]:
        """Like :meth:`dump`, but one detail at a time as it arrives, for tables too large to hold.

        A slow reader delays nothing else, and may stop early. Plain dumps only.
        """

    def pipeline(
        self, requests: Sequence[Request], *, generation: int | None = None
    ) -> list[Reply | list[Reply] | VppError]:
        """Send all requests, then gather one answer for each, in the order of the requests.

        An answer is a reply, a list of details, or the :class:`VppApiError` that VPP answered with; an error
        does not stop the later requests. With ``generation`` given, raises :class:`VppUnavailable` before
        sending when VPP was reconnected since.
        """

    def close(self) -> None:
        """Close the connection. A later call connects again."""
