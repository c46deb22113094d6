"""Observing VPP and applying steps to it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

from vpp_config.access import Access
from vpp_config.client import VppClient
from vpp_config.dumps import Dumps
from vpp_config.errors import ObjectMissing, VppApiError, VppError
from vpp_config.leftover import Leftover
from vpp_config.objects import KINDS, Acl, AclRule, Interface, VppObject
from vpp_config.state import VppState
from vpp_config.step import Step

DEFAULT_PREFIX = "millrace:"

# What VPP answers when the thing to remove is not there.
_GONE = {
    "sw_interface_add_del_address": {-60},
    "lcp_itf_pair_add_del_v3": {-2},
    "acl_del": {-6},
    "af_packet_delete": {-11},
    "delete_loopback": {-2},
    "delete_subif": {-2},
}


class Session:
    """One VPP, and what it calls our things. Thread-safe.

    Things are found by their tag, ``prefix`` and the name; what has no such tag is not touched.
    """

    def __init__(
        self,
        client: VppClient,
        prefix: str = DEFAULT_PREFIX,
        *,
        before_acl_change: Callable[[], None] | None = None,
    ) -> None:
        self.client = client
        self.prefix = prefix
        self.before_acl_change = before_acl_change
        self._access: Access | None = None
        self.lock = threading.RLock()
        """Held during every method; to be held by a caller for whom nothing may change in between."""

    def observe(self) -> VppState:
        """The live configuration. Raises ``VppUnavailable``, ``VppApiError``."""
        with self.lock:
            access, dumps = self._read()
            self._access = access
            objects = [item for kind in KINDS for item in kind.observe(dumps)]
            return VppState.of(objects, dumps.leftovers())

    def apply(self, step: Step) -> None:
        """Do a step. On an error what it had begun is put back, and the error raised."""
        with self.lock:
            self._move(step.before, step.after)

    def undo(self, step: Step) -> None:
        """Take a step back. A step never applied, or already taken back, is none the worse for it."""
        with self.lock:
            if not isinstance(step.before, Leftover):
                self._move(step.after, step.before)

    def interface_names(self) -> dict[int, str]:
        """VPP's index -> our name; what :meth:`observe` and the steps since know."""
        with self.lock:
            return self._current().interface_names()

    def acls(self) -> dict[str, tuple[int, tuple[AclRule, ...]]]:
        """Our access lists: name -> VPP's index and the rules; what :meth:`observe` and the steps since
        know.
        """
        with self.lock:
            return self._current().acls()

    # -- the indexes of this connection

    def _read(self) -> tuple[Access, Dumps]:
        generation = self.client.connect()
        access = Access(self.client, self.prefix, generation, self._tell_acl_change)
        dumps = Dumps.read(self.client, self.prefix, generation)
        access.learn(dumps)
        return access, dumps

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
            # What VPP has now is not what was expected: the next step looks anew.
            self._access = None
            raise

    def _create(self, item: VppObject, access: Access) -> None:
        if _known(item, access):
            # Undoing a removal that was not done.
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
            item.delete(access)
        except ObjectMissing:
            return
        except VppApiError as error:
            if error.retval not in _GONE.get(error.call, ()):
                raise


def _known(item: VppObject, access: Access) -> bool:
    if isinstance(item, Interface):
        return access.knows_interface(item.name)
    return isinstance(item, Acl) and access.knows_acl(item.name)


def observe(client: VppClient, prefix: str = DEFAULT_PREFIX) -> VppState:
    """:meth:`Session.observe`, once."""
    return Session(client, prefix).observe()


def apply(step: Step, client: VppClient, prefix: str = DEFAULT_PREFIX) -> None:
    """:meth:`Session.apply`, once. Many steps go faster through one session."""
    Session(client, prefix).apply(step)


def undo(step: Step, client: VppClient, prefix: str = DEFAULT_PREFIX) -> None:
    """:meth:`Session.undo`, once."""
    Session(client, prefix).undo(step)
