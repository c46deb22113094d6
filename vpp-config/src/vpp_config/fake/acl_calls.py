"""The fake's access list calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from vpp_config.fake import tables as t
from vpp_config.fake.tables import RefusedError, Tables
from vpp_config.objects.acl_rule import AclRule

_NEW = 0xFFFFFFFF


class AclCalls:
    """Handlers of the messages about access lists, by message name."""

    def __init__(self, held: Tables) -> None:
        self._held = held

    def acl_add_replace(
        self, acl_index: int, tag: str, count: int, r: Sequence[AclRule]
    ) -> Mapping[str, Any]:
        """Creates a list, or replaces the rules of an existing one."""
        assert count == len(r)
        if acl_index == _NEW:
            return {"acl_index": self._held.add_acl(tag, tuple(r))}
        if acl_index not in self._held.acls:
            raise RefusedError(t.NO_SUCH_ENTRY)
        self._held.acls[acl_index] = (tag, tuple(r))
        return {"acl_index": acl_index}

    def acl_del(self, acl_index: int) -> None:
        """Refused while bound."""
        if acl_index not in self._held.acls:
            raise RefusedError(t.NO_SUCH_ENTRY)
        for row in self._held.interfaces.values():
            if acl_index in row.inbound:
                raise RefusedError(t.ACL_IN_USE_INBOUND)
            if acl_index in row.outbound:
                raise RefusedError(t.ACL_IN_USE_OUTBOUND)
        del self._held.acls[acl_index]

    def acl_interface_set_acl_list(
        self, sw_if_index: int, count: int, n_input: int, acls: Sequence[int]
    ) -> None:
        """Sets all lists at once, or none."""
        row = self._held.interface(sw_if_index)
        assert count == len(acls)
        if any(index not in self._held.acls for index in acls):
            raise RefusedError(t.NO_SUCH_ENTRY)
        row.inbound, row.outbound = list(acls[:n_input]), list(acls[n_input:])

    def acl_stats_intf_counters_enable(self, enable: bool) -> None:
        """Counting has no effect in the fake."""

    def acl_dump(self, acl_index: int) -> list[SimpleNamespace]:
        """One list, or all."""
        return [
            SimpleNamespace(acl_index=index, tag=tag, r=rules)
            for index, (tag, rules) in self._held.acls.items()
            if acl_index in (index, _NEW)
        ]

    def acl_interface_list_dump(self, sw_if_index: int) -> list[SimpleNamespace]:
        """One interface, or all."""
        return [
            SimpleNamespace(sw_if_index=row.index, n_input=len(row.inbound), acls=row.inbound + row.outbound)
            for row in self._held.interfaces.values()
            if sw_if_index in (row.index, _NEW)
        ]
