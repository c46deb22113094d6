"""What a step may use while it is applied: VPP's calls, and VPP's indexes of our names.

An instance serves one connection (generation). When a name is not known, the tables are read once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from vpp_config.client import Reply, VppClient, request
from vpp_config.errors import ObjectMissing, VppError
from vpp_config.tokens import interface_name, interface_token

TakeDownMirror = Callable[[str, str], bool]
"""Takes a Linux interface down, given its network namespace and name. False where it is not up."""
VacateMirror = Callable[[str, str], AbstractContextManager[None]]
"""Keeps a feeder's routes off a mirror during the block, given the mirror's network namespace and name:
inside the block VPP has no route over it.
"""


class Access:
    """Tokens of our objects -> indexes of VPP, and the calls that use them."""

    def __init__(
        self,
        client: VppClient,
        prefix: str,
        generation: int,
        before_acl_change: Callable[[], None],
        take_down_mirror: TakeDownMirror | None = None,
        vacate_mirror: VacateMirror | None = None,
    ) -> None:
        self.prefix = prefix
        self.generation = generation
        self._client = client
        self._before_acl_change = before_acl_change
        self._take_down_mirror = take_down_mirror
        self._vacate_mirror = vacate_mirror
        self._indexes: dict[str, int] = {}
        self._held: dict[str, Any] = {}

    def call(self, name: str, /, **fields: Any) -> Reply:
        """One call on this connection and on no later one. Raises ``VppApiError``, ``VppUnavailable``."""
        answer = self._client.pipeline([request(name, **fields)], generation=self.generation)[0]
        if isinstance(answer, VppError):
            raise answer
        return answer

    def wait_for_netlink(self) -> None:
        """Give linux_nl time to process Linux's changes to its routes."""
        time.sleep(self._client.netlink_settle_s)

    def take_down_mirror(self, netns: str, name: str) -> bool:
        """Take a mirror down in Linux. False where it is down, does not exist, or cannot be taken down
        from here.
        """
        return self._take_down_mirror is not None and self._take_down_mirror(netns, name)

    @property
    def has_feeder(self) -> bool:
        """Whether a feeder, instead of linux_nl, carries the routes."""
        return self._vacate_mirror is not None

    def vacated_mirror(self, netns: str, name: str) -> AbstractContextManager[None]:
        """See ``VacateMirror``. Does nothing without a feeder."""
        return nullcontext() if self._vacate_mirror is None else self._vacate_mirror(netns, name)

    def supports(self, name: str) -> bool:
        """Whether this VPP has the call."""
        return self._client.supports(name)

    def before_acl_change(self) -> None:
        """Called before an access list's rules are replaced, which resets their hit counters."""
        self._before_acl_change()

    # -- indexes

    def knows(self, token: str) -> bool:
        """Whether VPP has the object, for objects that have an index."""
        return token in self._indexes

    def index(self, token: str, label: str) -> int:
        """VPP's index of the object that provides the token. Raises ``ObjectMissing`` with the label."""
        try:
            return self._indexes[token]
        except KeyError:
            raise ObjectMissing(f"VPP has no {label}") from None

    def index_of(self, name: str) -> int:
        """VPP's index of our interface. Raises ``ObjectMissing``."""
        return self.index(interface_token(name), f"interface {name}")

    def remember(self, token: str, index: int, held: object = None) -> None:
        """An object with an index was made or changed. ``held`` is the object, for :meth:`held`."""
        self._indexes[token] = index
        self._held[token] = held

    def forget(self, token: str) -> None:
        """It was removed."""
        self._indexes.pop(token, None)
        self._held.pop(token, None)

    def held(self) -> list[tuple[int, Any]]:
        """The objects that have an index, as last remembered, with that index."""
        return [(index, self._held[token]) for token, index in self._indexes.items()]

    def interface_names(self) -> dict[int, str]:
        """VPP's index -> our name."""
        return {
            index: name
            for token, index in self._indexes.items()
            if (name := interface_name(token)) is not None
        }

    def index_by_vpp_name(self, vpp_name: str) -> int | None:
        """VPP's index of the interface that has this name in VPP."""
        rows: list[Reply] = self.call("sw_interface_dump", sw_if_index=0xFFFFFFFF)
        return next((row.sw_if_index for row in rows if row.interface_name == vpp_name), None)
