"""From two states to the steps between them. Pure: no I/O, no clock.

The ordering rules, by phase (the phases of several backends are interleaved by the caller):

1. ``detach``: interfaces that go down, or away, are disabled first, sub-interfaces before their parents, so
that
   nothing passes while their access lists come off; then the access lists of interfaces that go away, and
   those that shall have none.
2. ``delete``: leftovers in the way; then addresses, mirrors (of sub-interfaces first), VRF bindings,
   sub-interfaces, other interfaces, VRF tables, punt policers.
3. ``create``: punt policers, VRF tables, access lists (new ones, and rules replaced in place), Ethernet and
   loopback interfaces,
   sub-interfaces, MTUs, VRF bindings, mirrors (of parents first), addresses. Interfaces are made down.
   VPP refuses another VRF under an address, and copies to a mirror only the addresses that come after it.
   Where a sub-interface's MTU shrinks it changes before its parent's, else after: VPP clamps it to the
   parent's.
4. ``attach``: access lists are bound, or their bindings replaced in one call (make before break), then
interfaces
   come up, parents before sub-interfaces; last the access lists go that nothing uses any more.

An object is changed in place where VPP can; else it is removed and made anew, and with it everything that
depends on it. Undoing the steps in reverse is always possible in the same order. Every pass is linear in the
number of objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from vpp_config.errors import PlanError
from vpp_config.leftover import Leftover, device_token
from vpp_config.objects import (
    Acl,
    AclBinding,
    Address,
    Ethernet,
    Interface,
    InterfaceVrf,
    LcpPair,
    Loopback,
    PuntPolicer,
    SubInterface,
    VppObject,
    VrfTable,
)
from vpp_config.state import VppState
from vpp_config.step import Phase, Step

_T = TypeVar("_T", bound=VppObject)


def plan(
    desired: VppState, observed: VppState, *, paths: Mapping[str, str] | None = None
) -> tuple[Step, ...]:
    """The steps that bring ``observed`` to ``desired``, in order; none when they agree.

    ``paths`` gives the ``path`` of the steps by object key. Raises :class:`PlanError` where ``desired``
    lacks something that one of its objects needs.
    """
    _check(desired)
    target = _settle(desired, observed)
    return tuple(_Planner(target, observed, paths or {}).steps())


def _check(desired: VppState) -> None:
    provided = {item.provides for item in desired.values()}
    interfaces = desired.interfaces()
    for item in desired.values():
        for token in item.requires():
            if token not in provided:
                raise PlanError(f"{item.label()} needs {token.replace('/', ' ', 1)}, which is not there")
        if isinstance(item, SubInterface):
            parent = interfaces[item.parent]
            if not isinstance(parent, Ethernet):
                raise PlanError(f"{item.label()} needs an Ethernet interface as parent, not {parent.label()}")
            if item.mtu > parent.mtu:
                raise PlanError(
                    f"the MTU of {item.label()} ({item.mtu}) is above its parent's ({parent.mtu})"
                )


def _settle(desired: VppState, observed: VppState) -> dict[str, VppObject]:
    """Desired objects with what they leave to VPP filled in; sub-interfaces down where their parent is."""
    interfaces = desired.interfaces()
    target: dict[str, VppObject] = {}
    for key, item in desired.items():
        target[key] = (
            _settle_interface(item, observed.get(key), interfaces) if isinstance(item, Interface) else item
        )
    return target


def _settle_interface(
    item: Interface, seen: VppObject | None, interfaces: Mapping[str, Interface]
) -> Interface:
    settled = item.adopt(seen) if isinstance(seen, Interface) else item
    if settled.parent_name is not None and not interfaces[settled.parent_name].enabled:
        return _down(settled)
    return settled


def _with_enabled(item: Interface, enabled: bool) -> Interface:
    changed: Interface = replace(item, enabled=enabled)  # type: ignore[type-var]  # the subclasses are
    return changed


@dataclass
class _Planner:
    target: dict[str, VppObject]
    observed: VppState
    paths: Mapping[str, str]

    def steps(self) -> Iterable[Step]:
        self._sort_out()
        yield from self._detach()
        yield from self._delete()
        yield from self._create()
        yield from self._attach()

    def _sort_out(self) -> None:
        """Which objects are removed, made, changed; one made anew is in the first two."""
        self.removed: dict[str, VppObject] = {}
        self.made: dict[str, VppObject] = {}
        self.changed: dict[str, tuple[VppObject, VppObject]] = {}
        for key, before in self.observed.items():
            after = self.target.get(key)
            if after is None:
                self.removed[key] = before
            elif after != before:
                if after.needs_recreate(before):
                    self.removed[key], self.made[key] = before, after
                else:
                    self.changed[key] = (before, after)
        for key, after in self.target.items():
            if key not in self.observed:
                self.made[key] = after
        self._spread()

    def _spread(self) -> None:
        """Whatever stands on something removed or made is made anew, and what stands on that, and so on."""
        stands_on: dict[str, list[str]] = {}
        for key, before in self.observed.items():
            after = self.target.get(key)
            if after is None:
                continue
            tokens = {*_foundations(before, self.observed), *_foundations(after, self.target)}
            for token in tokens:
                stands_on.setdefault(token, []).append(key)
        moved = {item.provides for item in (*self.removed.values(), *self.made.values())}
        queue = list(moved)
        while queue:
            for key in stands_on.get(queue.pop(), ()):
                if key in self.removed:
                    continue
                self.removed[key], self.made[key] = self.observed[key], self.target[key]
                self.changed.pop(key, None)
                token = self.observed[key].provides
                if token not in moved:
                    moved.add(token)
                    queue.append(token)

    # -- phases

    def _detach(self) -> Iterable[Step]:
        going_down = [
            item
            for key, item in self.observed.items()
            if isinstance(item, Interface) and item.enabled and (key in self.removed or self._goes_down(key))
        ]
        for item in sorted(going_down, key=_is_sub_interface, reverse=True):
            yield self._update("detach", item, _with_enabled(item, False))
        for binding in _of(AclBinding, self.removed.values()):
            yield self._remove("detach", binding)

    def _goes_down(self, key: str) -> bool:
        after = self.changed[key][1] if key in self.changed else None
        return isinstance(after, Interface) and not after.enabled

    def _delete(self) -> Iterable[Step]:
        yield from map(self._clear, self._leftovers_in_the_way())
        removed = self.removed.values()
        sub_interfaces = {item.name for item in _of(SubInterface, self.observed.values())}
        pairs = sorted(_of(LcpPair, removed), key=lambda pair: pair.interface not in sub_interfaces)
        for group in (
            _of(Address, removed),
            pairs,
            _of(InterfaceVrf, removed),
            [_down(item) for item in _of(SubInterface, removed)],
            [_down(item) for item in (*_of(Ethernet, removed), *_of(Loopback, removed))],
            _of(VrfTable, removed),
            _of(PuntPolicer, removed),
        ):
            for item in group:
                yield self._remove("delete", item)

    def _leftovers_in_the_way(self) -> Iterable[Leftover]:
        needed = {token for item in self.made.values() if (token := _occupied(item)) is not None}
        for leftover in self.observed.leftovers:
            if leftover.reason == "duplicate" or leftover.blocks in needed:
                yield leftover

    def _create(self) -> Iterable[Step]:
        made = self.made.values()
        for policer in _of(PuntPolicer, made):
            yield self._make("create", policer)
        for table in _of(VrfTable, made):
            yield self._make("create", table)
        for acl in _of(Acl, made):
            yield self._make("create", acl)
        for key, (before, after) in self.changed.items():
            if isinstance(after, (Acl, PuntPolicer)) and key not in self.made:
                yield self._update("create", before, after)
        # VPP clamps a sub-interface's MTU to its parent's: shrink the inner first, grow the outer first.
        yield from self._mtu_steps(lambda before, after: _is_sub_interface(after) and after.mtu < before.mtu)
        for interface in (*_of(Ethernet, made), *_of(Loopback, made)):
            yield self._make("create", _down(interface))
        yield from self._mtu_steps(lambda _, after: not _is_sub_interface(after))
        for sub_interface in _of(SubInterface, made):
            yield self._make("create", _down(sub_interface))
        yield from self._mtu_steps(lambda before, after: _is_sub_interface(after) and after.mtu > before.mtu)
        for interface_vrf in _of(InterfaceVrf, made):
            yield self._make("create", interface_vrf)
        sub_interfaces = {item.name for item in _of(SubInterface, self.target.values())}
        for pair in sorted(_of(LcpPair, made), key=lambda pair: pair.interface in sub_interfaces):
            yield self._make("create", pair)
        for address in _of(Address, made):
            yield self._make("create", address)

    def _mtu_steps(self, wanted: Any) -> Iterable[Step]:
        for before, after in self.changed.values():
            if (
                isinstance(before, Interface)
                and isinstance(after, Interface)
                and before.mtu != after.mtu
                and wanted(before, after)
            ):
                # One that goes down has done so; one that comes up has not yet.
                up = before.enabled and after.enabled
                yield self._update("create", _with_enabled(before, up), _with_enabled(after, up))

    def _attach(self) -> Iterable[Step]:
        for binding in _of(AclBinding, self.made.values()):
            yield self._make("attach", binding)
        for before, after in self.changed.values():
            if isinstance(after, AclBinding):
                yield self._update("attach", before, after)
        coming_up = [item for item in self.made.values() if isinstance(item, Interface) and item.enabled]
        coming_up += [
            after
            for before, after in self.changed.values()
            if isinstance(after, Interface)
            and isinstance(before, Interface)
            and after.enabled
            and not before.enabled
        ]
        for interface in sorted(coming_up, key=_is_sub_interface):
            yield self._update("attach", _down(interface), interface)
        for acl in _of(Acl, self.removed.values()):
            yield self._remove("attach", acl)

    # -- steps

    def _make(self, phase: Phase, item: VppObject) -> Step:
        return Step(
            phase, "create", item.key, f"add {item.label()}", f"remove {item.label()}", "none",
            None, item, self.paths.get(item.key, ""),
        )  # fmt: skip

    def _remove(self, phase: Phase, item: VppObject) -> Step:
        return Step(
            phase, "delete", item.key, f"remove {item.label()}", f"add {item.label()}", item.removal_impact(),
            item, None, self.paths.get(item.key, ""),
        )  # fmt: skip

    def _update(self, phase: Phase, before: VppObject, after: VppObject) -> Step:
        return Step(
            phase, "update", after.key, after.describe_update(before), before.describe_update(after),
            after.update_impact(before), before, after, self.paths.get(after.key, ""),
        )  # fmt: skip

    def _clear(self, leftover: Leftover) -> Step:
        return Step(
            "delete", "clear", leftover.key, f"clear {leftover.label()}", f"leave {leftover.label()} cleared",
            "none", leftover, None,
        )  # fmt: skip


def _foundations(item: VppObject, state: Mapping[str, VppObject]) -> Iterable[str]:
    """Tokens whose coming and going moves the item. Access lists do not: bindings change in place."""
    for token in (*item.requires(), *item.follows()):
        if not token.startswith("acl/"):
            yield token
    if isinstance(item, LcpPair):
        interface = state.get(f"sub_interface/{item.interface}")
        if isinstance(interface, SubInterface):
            yield f"lcp_pair/{interface.parent}"


def _occupied(item: VppObject) -> str | None:
    """What a leftover must not hold when this is made."""
    if isinstance(item, Ethernet):
        return device_token(item.attachment)
    if isinstance(item, Loopback):
        return f"loopback/{item.instance}"
    if isinstance(item, SubInterface):
        return f"vlan/{item.parent}/{item.vlan_id}"
    return None


def _of(kind: type[_T], items: Iterable[VppObject]) -> list[_T]:
    return [item for item in items if isinstance(item, kind)]


def _is_sub_interface(item: Interface) -> bool:
    return isinstance(item, SubInterface)


def _down(item: Interface) -> Interface:
    return _with_enabled(item, False) if item.enabled else item
