"""What changing the kernel's objects may use: links by name, the NICs' homes, nftables."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.control_plane.guard import ControlPlaneGuard
from appliance.dataplane.linux.filters import Filters
from appliance.dataplane.linux.nat_table import NatTable
from appliance.dataplane.namespace import Namespace
from appliance.dataplane.rtnetlink import IPRoute, NetlinkError

Move = Callable[[str], None]
"""Moves the NIC with this name of its own, if it is not there yet."""


@contextmanager
def saying(what: str) -> Iterator[None]:
    """Translate the kernel's refusal into an error that says what was tried."""
    try:
        yield
    except NetlinkError as error:
        reason = errno.errorcode.get(error.code, str(error.code))
        raise DataPlaneError(f"cannot {what}: {error.args[-1] or reason}") from error


class Access:
    """One namespace; everything has to be called inside it.

    What was read of nftables is kept with it, so each thread of a namespace has an access of its own.
    """

    def __init__(self, namespace: Namespace, take: Move, give_back: Move) -> None:
        self._namespace = namespace
        self.filters = Filters()
        self.control_plane = ControlPlaneGuard()
        self.nat = NatTable()
        self.take = take
        """Brings a NIC into the namespace."""
        self.give_back = give_back
        """Returns a NIC to where NICs are kept."""

    @property
    def route(self) -> IPRoute:
        """The namespace's rtnetlink socket."""
        return self._namespace.route()

    def index(self, name: str) -> int | None:
        """The kernel's index of the link with this name; None when there is none."""
        found = self.route.link_lookup(ifname=name)
        return int(found[0]) if found else None
