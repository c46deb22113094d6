"""Observing VPP and applying steps to it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

from vpp_config.access import Access, TakeDownMirror, VacateMirror
from vpp_config.client import VppClient
from vpp_config.errors import ObjectMissing, VppApiError, VppError
from vpp_config.leftover import Leftover
from vpp_config.objects import KINDS, VppObject
from vpp_config.observation import Observation
from vpp_config.state import VppState
from vpp_config.step import Step
from vpp_config.tokens import interface_token

DEFAULT_PREFIX = "millrace:"

T = TypeVar("T", bound=VppObject)

_CLEARING = {sort: kind for kind in KINDS for sort in kind.clears}
_GONE = {call: retvals for kind in KINDS for call, retvals in kind.gone.items()}


class Session:
    """One VPP, and its indexes of our things. Thread-safe.

    Things are found by their tag, ``prefix`` and the name; things without such a tag are not touched. No
    route may outlive its mirror: ``vacate_mirror`` ensures this where a feeder carries the routes and
    linux_nl is not loaded, and ``take_down_mirror`` where linux_nl carries them. Without either, routes that
    Linux is adding while a mirror is removed may stay in VPP.
    """

    def __init__(
        self,
        client: VppClient,
        prefix: str = DEFAULT_PREFIX,
        *,
        before_acl_change: Callable[[], None] | None = None,
        take_down_mirror: TakeDownMirror | None = None,
        vacate_mirror: VacateMirror | None = None,
    ) -> None:
        self.client = client
        self.prefix = prefix
        self.before_acl_change = before_acl_change
        self._take_down_mirror = take_down_mirror
        self._vacate_mirror = vacate_mirror
        self._access: Access | None = None
        self._links: dict[str, bool] = {}
        self.lock = threading.RLock()
        """Held during every method; a caller holds it when nothing may change between two calls."""

    def observe(self) -> VppState:
        """The live configuration. Raises ``VppUnavailable``, ``VppApiError``."""
        with self.lock:
            self._access, state = self._read()
            return state

    def apply(self, step: Step) -> None:
        """Do a step. On an error, what was already done is undone, and the error raised."""
        with self.lock:
            self._move(step.before, step.after)

    def undo(self, step: Step) -> None:
        """Undo a step. Undoing a step that was never applied, or is already undone, does no harm."""
        with self.lock:
            if not isinstance(step.before, Leftover):
                self._move(step.after, step.before)

    def interface_names(self) -> dict[int, str]:
        """VPP's index -> our name, as known from :meth:`observe` and the steps since."""
        with self.lock:
            return self._current().interface_names()

    @property
    def links(self) -> dict[str, bool]:
        """Our interfaces, and whether they were up and had a link at the last :meth:`observe`."""
        return self._links

    def held(self, kind: type[T]) -> list[tuple[int, T]]:
        """The objects of a kind that has indexes in VPP, with their indexes, as known from
        :meth:`observe` and the steps since.
        """
        with self.lock:
            return [(index, item) for index, item in self._current().held() if isinstance(item, kind)]

    # -- the indexes of this connection

    def _read(self) -> tuple[Access, VppState]:
        generation = self.client.connect()
        access = Access(
            self.client,
            self.prefix,
            generation,
            self._tell_acl_change,
            self._take_down_mirror,
            self._vacate_mirror,
        )
        seen = Observation.of(self.client, self.prefix, generation)
        self._links = {row.name: row.up and row.linked for row in seen.dumps.tagged_interfaces()}
        for name, index in seen.dumps.indexes.items():
            access.remember(interface_token(name), index)
        for item in seen.state.values():
            if (known := item.index_in(seen.dumps)) is not None:
                access.remember(item.provides, known, item)
        return access, seen.state

    def _current(self) -> Access:
        if self._access is None or self._access.generation != self.client.connect():
            self._access = self._read()[0]
        return self._access

    def _tell_acl_change(self) -> None:
        if self.before_acl_change is not None:
            self.before_acl_change()

    # -- from one object to another

    def _move(self, before: VppObject | Leftover | None, after: VppObject | None) -> None:
        access = self._current()
        try:
            if isinstance(before, Leftover) or after is None:
                if before is not None:
                    self._delete(before, access)
            elif before is None:
                self._create(after, access)
            else:
                self._update(before, after, access)
        except VppError:
            # VPP is not in the expected state: the next step reads it again.
            self._access = None
            raise

    def _create(self, item: VppObject, access: Access) -> None:
        if access.knows(item.provides):
            # Undo of a removal that was not done.
            return
        try:
            item.create(access)
        except (VppApiError, ObjectMissing):
            with contextlib.suppress(VppError):
                item.delete(access)
            raise

    def _update(self, before: VppObject, after: VppObject, access: Access) -> None:
        try:
            after.update(before, access)
        except (VppApiError, ObjectMissing):
            with contextlib.suppress(VppError):
                before.update(after, access)
            raise

    def _delete(self, item: VppObject | Leftover, access: Access) -> None:
        try:
            if isinstance(item, Leftover):
                _clear(item, access)
            else:
                item.delete(access)
        except ObjectMissing:
            return
        except VppApiError as error:
            if error.retval not in _GONE.get(error.call, ()):
                raise


def _clear(leftover: Leftover, access: Access) -> None:
    kind = _CLEARING.get(leftover.sort)
    if kind is not None:
        kind.clear(leftover, access)
    else:
        # Only its tag, which is a duplicate, is known of it.
        access.call("sw_interface_tag_add_del", is_add=False, sw_if_index=leftover.index, tag="")


def observe(client: VppClient, prefix: str = DEFAULT_PREFIX) -> VppState:
    """:meth:`Session.observe`, once."""
    return Session(client, prefix).observe()


def apply(step: Step, client: VppClient, prefix: str = DEFAULT_PREFIX) -> None:
    """:meth:`Session.apply`, once. Many steps go faster through one session."""
    Session(client, prefix).apply(step)


def undo(step: Step, client: VppClient, prefix: str = DEFAULT_PREFIX) -> None:
    """:meth:`Session.undo`, once."""
    Session(client, prefix).undo(step)
