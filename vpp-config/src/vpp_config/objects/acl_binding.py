"""The access lists that filter an interface's packets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from planner import Phase
from vpp_config.access import Access
from vpp_config.client import Request, request
from vpp_config.dumps import ALL, Dumps
from vpp_config.objects.acl import acl_index, acl_names, acl_token
from vpp_config.objects.base import VppObject
from vpp_config.tokens import interface_token

_MAX_LISTS = 255
_BINDINGS = request("acl_interface_list_dump", sw_if_index=ALL)


@dataclass(frozen=True)
class AclBinding(VppObject):
    """Names of access lists, in the order in which they are evaluated, for packets coming in and going out.

    A list that is not ours but is bound to our interface is observed as ``#<its index>``, a name that no list
    of ours can have. The next plan unbinds it, and never removes it.
    """

    kind = "acl_binding"
    tables: ClassVar[tuple[Request, ...]] = (_BINDINGS,)
    up_phase: ClassVar[Phase] = "attach"
    down_phase: ClassVar[Phase] = "detach"

    interface: str
    inbound: tuple[str, ...] = ()
    outbound: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.inbound and not self.outbound:
            raise ValueError("neither inbound nor outbound names an access list")
        if len(self.inbound) + len(self.outbound) > _MAX_LISTS:
            raise ValueError(f"more than {_MAX_LISTS} access lists on one interface")
        for names in (self.inbound, self.outbound):
            if len(set(names)) != len(names):
                raise ValueError("an access list is named twice in one direction")

    @property
    def key(self) -> str:
        """``acl_binding/<interface>``."""
        return f"acl_binding/{self.interface}"

    def label(self) -> str:
        """``access lists of interface wan0``."""
        return f"access lists of interface {self.interface}"

    def requires(self) -> tuple[str, ...]:
        """The interface and the lists."""
        return (interface_token(self.interface), *self.rebinds())

    def rebinds(self) -> tuple[str, ...]:
        """The lists: VPP sets all lists of an interface at once."""
        return tuple(acl_token(name) for name in dict.fromkeys(self.inbound + self.outbound))

    def guards(self) -> tuple[str, ...]:
        """The interface: no packet passes it unfiltered."""
        return (interface_token(self.interface),)

    def needs_recreate(self, before: AclBinding) -> bool:
        """Never: VPP sets all lists of an interface at once."""
        return False

    def describe_update(self, before: AclBinding) -> str:
        """``set the access lists of interface wan0: in edge-in, out none``."""
        inbound, outbound = (", ".join(names) or "none" for names in (self.inbound, self.outbound))
        return f"set the {self.label()}: in {inbound}, out {outbound}"

    def create(self, vpp: Access) -> None:
        """Bind."""
        self._set(vpp, self.inbound, self.outbound)

    def update(self, before: AclBinding, vpp: Access) -> None:
        """Bind the new lists in place of the old, in one call."""
        self._set(vpp, self.inbound, self.outbound)

    def delete(self, vpp: Access) -> None:
        """Unbind all."""
        self._set(vpp, (), ())

    def _set(self, vpp: Access, inbound: tuple[str, ...], outbound: tuple[str, ...]) -> None:
        indexes = [acl_index(vpp, name) for name in inbound + outbound]
        vpp.call(
            "acl_interface_set_acl_list",
            sw_if_index=vpp.index_of(self.interface),
            count=len(indexes),
            n_input=len(inbound),
            acls=indexes,
        )

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[AclBinding]:
        """The bindings of our interfaces."""
        ours = acl_names(dumps)
        for binding in dumps.table(_BINDINGS):
            interface = dumps.names.get(binding.sw_if_index)
            if interface is None or not binding.acls:
                continue
            names = [ours.get(index, f"#{index}") for index in binding.acls]
            yield cls(interface, tuple(names[: binding.n_input]), tuple(names[binding.n_input :]))
