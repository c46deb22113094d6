"""The kernel's part of a document without nftables, made and read as the linux data plane does.

For a kernel with features that this machine's may lack, and without nftables: that of user-mode Linux
(tests/integration/uml).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

from appliance.config.document import RouterConfig
from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.compile import compile_linux
from appliance.dataplane.linux.dump import Dump
from appliance.dataplane.linux.objects import (
    EthernetLink,
    KernelSettings,
    LinkAddress,
    LinuxObject,
    LoopbackLink,
    VlanLink,
    VrfDevice,
    VrfMember,
)
from appliance.dataplane.linux.objects.bond_link import BondLink
from appliance.dataplane.linux.objects.bond_member import BondMember
from appliance.dataplane.linux.objects.gre_link import GreLink
from appliance.dataplane.linux.objects.ipip_link import IpipLink
from appliance.dataplane.linux.plan import plan
from appliance.dataplane.linux.state import LinuxState
from appliance.dataplane.namespace import Namespace
from appliance.dataplane.nic import Nic
from appliance.dataplane.object_step import ObjectStep

P = ParamSpec("P")
T = TypeVar("T")

KINDS: tuple[type[LinuxObject], ...] = (
    *(KernelSettings, EthernetLink, LoopbackLink, VrfDevice, VrfMember, LinkAddress),
    *(BondLink, BondMember, VlanLink, GreLink, IpipLink),
)


class KernelPart:
    """The kernel of a namespace whose NICs are there already."""

    def __init__(self, netns: str) -> None:
        self._space = Namespace(netns)
        self._access = Access(self._space, lambda _: None, lambda _: None)

    def close(self) -> None:
        """End the thread that lives in the namespace."""
        self._space.close()

    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call ``work`` inside the namespace."""
        return self._space.run(work, *args, **kwargs)

    def look(self, work: Callable[Concatenate[Access, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call ``work`` inside the namespace, with the arguments of views of the live state."""
        return self._space.run(work, self._access, *args, **kwargs)

    def wanted(self, config: RouterConfig, nics: Mapping[str, Nic]) -> LinuxState:
        """The objects of a document, of the kinds that need no nftables."""
        return LinuxState.of(item for item in compile_linux(config, nics).values() if type(item) in KINDS)

    def observe(self) -> LinuxState:
        """What is there."""
        return self._space.run(self._observe)

    def _observe(self) -> LinuxState:
        dump = Dump(self._access)
        return LinuxState.of(item for kind in KINDS for item in kind.observe(dump))

    def steps(self, wanted: LinuxState) -> list[ObjectStep]:
        """The plan from the observed state, in its order."""
        return list(plan(wanted, self.observe()))

    def apply(self, step: ObjectStep) -> None:
        """Carry one step out."""
        self._space.run(self._change, step.before, step.after)

    def undo(self, step: ObjectStep) -> None:
        """Carry it out backwards."""
        self._space.run(self._change, step.after, step.before)

    def _change(self, before: Any, after: Any) -> None:
        if before is None:
            after.create(self._access)
        elif after is None:
            before.delete(self._access)
        else:
            after.update(before, self._access)
