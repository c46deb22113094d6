"""The access through which the kernel's objects are changed: links by name, the NICs' homes, nftables."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.control_plane.guard import ControlPlaneGuard
from appliance.dataplane.linux.filters import Filters
from appliance.dataplane.namespace import Namespace
from appliance.dataplane.rtnetlink import IPRoute, NetlinkError

Move = Callable[[str], None]
"""Moves the NIC with this original name, if it is not there yet."""
Read_co = TypeVar("Read_co", covariant=True)


class Table(Protocol[Read_co]):
    """State that a feature keeps in the namespace for several of its objects, such as an nftables table."""

    def observe(self) -> Read_co:
        """The observed state. Called inside the namespace. Raises DataPlaneError."""


T = TypeVar("T", bound=Table[Any])


@contextmanager
def saying(what: str) -> Iterator[None]:
    """Translate the kernel's refusal into an error that names the attempted operation."""
    try:
        yield
    except NetlinkError as error:
        reason = errno.errorcode.get(error.code, str(error.code))
        raise DataPlaneError(f"cannot {what}: {error.args[-1] or reason}") from error


class Access:
    """One namespace; everything has to be called inside it.

    It caches what was read from nftables, so each thread of a namespace has an access of its own.
    """

    def __init__(self, namespace: Namespace, take: Move, give_back: Move) -> None:
        self._namespace = namespace
        self.filters = Filters()
        self.control_plane = ControlPlaneGuard()
        self._tables: dict[type[Table[Any]], Table[Any]] = {}
        self.take = take
        """Brings a NIC into the namespace."""
        self.give_back = give_back
        """Returns a NIC to where NICs are kept."""

    def table(self, kind: type[T]) -> T:
        """The table of a feature, by its class: always the same object."""
        if kind not in self._tables:
            self._tables[kind] = kind()
        found = self._tables[kind]
        assert isinstance(found, kind)
        return found

    @property
    def route(self) -> IPRoute:
        """The namespace's rtnetlink socket."""
        return self._namespace.route()

    def index(self, name: str) -> int | None:
        """The kernel's index of the link with this name; None when there is none."""
        found = self.route.link_lookup(ifname=name)
        return int(found[0]) if found else None
