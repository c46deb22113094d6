"""Steps from what is to what is wanted, on the linux data plane. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from appliance.config.pointer import escape
from appliance.dataplane.control_plane.policy import ControlPlane
from appliance.dataplane.control_plane.step import WHAT, describe
from appliance.dataplane.linux.state import (
    EthernetLink,
    FilterBinding,
    FilterList,
    FilterRule,
    KernelSettings,
    LinkAddress,
    LinuxObject,
    LinuxState,
    LoopbackLink,
    VlanLink,
)
from appliance.dataplane.object_step import ObjectStep, Phase

Step = ObjectStep
Change = tuple[LinuxObject | None, LinuxObject | None]


def plan(desired: LinuxState, observed: LinuxState) -> list[Step]:
    """Steps in the order they have to run within each phase.

    Down: bindings and addresses, sub-interfaces, links, lists. Up: lists, links, sub-interfaces, bindings,
    addresses: no packet passes an interface before its access lists are on it. A list that a binding lets go
    of is deleted after the binding has changed.
    """
    anew = _made_anew(desired, observed)
    removals: list[tuple[LinuxObject, LinuxObject | None]] = []
    updates: list[tuple[LinuxObject, LinuxObject]] = []
    additions: list[LinuxObject] = []
    for key in sorted(observed.keys() | desired.keys()):
        before, after = observed.get(key), desired.get(key)
        if _interface(key) in anew and not key.startswith("acl"):
            if before is not None:
                removals.append((before, after))
            if after is not None:
                additions.append(after)
        elif before is None and after is not None:
            additions.append(after)
        elif after is None and before is not None:
            removals.append((before, None))
        elif before is not None and after is not None and before != after:
            updates.append((before, after))
    held = {name for before, _ in updates if isinstance(before, FilterBinding) for name in _lists_of(before)}
    late = [item for item, _ in removals if isinstance(item, FilterList) and item.name in held]
    steps = [_step(_down_phase(item), item, None) for item, _ in removals if item not in late]
    steps += [_step(_up_phase(after), before, after) for before, after in updates]
    steps += [_step(_up_phase(item), None, item) for item in additions]
    steps += [_step("attach", item, None) for item in late]
    return sorted(steps, key=lambda step: (_PHASES.index(step.phase), _rank(step)))


_PHASES = ("withdraw", "detach", "delete", "create", "attach", "announce")


def _interface(key: str) -> str | None:
    kind, _, rest = key.partition("/")
    return rest.split("/")[0] if kind in ("interface", "address") else None


def _made_anew(desired: LinuxState, observed: LinuxState) -> set[str]:
    """Links that cannot be changed into what is wanted, and sub-interfaces that go down with their parent."""
    anew = set()
    for key, before in observed.items():
        after = desired.get(key)
        if isinstance(before, (EthernetLink, VlanLink, LoopbackLink)) and _identity(before) != _identity(
            after
        ):
            anew.add(before.name)
    return anew | {
        item.name for item in observed.values() if isinstance(item, VlanLink) and item.parent in anew
    }


def _identity(item: LinuxObject | None) -> tuple[object, ...]:
    if isinstance(item, EthernetLink):
        return ("ethernet", item.device)
    if isinstance(item, VlanLink):
        return ("vlan", item.parent, item.vlan_id)
    return (type(item).__name__,)


def _lists_of(binding: FilterBinding) -> set[str]:
    return {*binding.inbound, *binding.outbound}


def _down_phase(item: LinuxObject) -> Phase:
    return "detach" if isinstance(item, (FilterBinding, LinkAddress)) else "delete"


def _up_phase(item: LinuxObject) -> Phase:
    return "attach" if isinstance(item, (FilterBinding, LinkAddress)) else "create"


def _rank(step: Step) -> tuple[int, str]:
    """Order within a phase."""
    item = step.before if step.after is None else step.after
    removing = step.after is None
    order: Mapping[type[object], int]
    if removing:
        order = {
            LinkAddress: 0,
            FilterBinding: 1,
            VlanLink: 2,
            LoopbackLink: 3,
            EthernetLink: 3,
            FilterList: 9,
        }
    else:
        order = {KernelSettings: 0, FilterList: 1, EthernetLink: 2, LoopbackLink: 2, VlanLink: 3}
        order = {**order, FilterBinding: 4, LinkAddress: 5}
    return order.get(type(item), 0), step.key


def _step(phase: Phase, before: LinuxObject | None, after: LinuxObject | None) -> Step:
    item = after if after is not None else before
    assert item is not None
    verb = "add" if before is None else "remove" if after is None else "change"
    opposite = {"add": "remove", "remove": "add", "change": "change back"}[verb]
    what = _what(item)
    detail = _detail(before, after)
    return Step(
        phase,
        f"{verb} {what}{detail}",
        f"{opposite} {what}",
        _impact(before, after),
        _path(item),
        item.key,
        before,
        after,
    )


def _what(item: LinuxObject) -> str:
    match item:
        case EthernetLink(name, device):
            return f"interface {name} on {device}"
        case VlanLink(name, parent, vlan_id):
            return f"sub-interface {name} (VLAN {vlan_id} of {parent})"
        case LoopbackLink(name):
            return f"loopback {name}"
        case LinkAddress(interface, address):
            return f"address {address} on {interface}"
        case FilterList(name):
            return f"access list {name}"
        case FilterBinding(interface):
            return f"access lists on {interface}"
        case ControlPlane():
            return WHAT
    return "kernel settings of the namespace"


def _detail(before: LinuxObject | None, after: LinuxObject | None) -> str:
    if isinstance(before, FilterList) and isinstance(after, FilterList):
        old, new = set(before.rules), set(after.rules)
        changed = sorted({rule.sequence for rule in old ^ new if isinstance(rule, FilterRule)}, key=int)
        shown = ", ".join(str(sequence) for sequence in changed[:8]) + (" …" if len(changed) > 8 else "")
        return f": rules {shown}" if changed else ""
    if isinstance(after, FilterList):
        return f" with {len(after.rules)} rules"
    if isinstance(after, ControlPlane):
        return describe(before if isinstance(before, ControlPlane) else None, after)
    if isinstance(after, FilterBinding):
        return f": in {', '.join(after.inbound) or 'none'}, out {', '.join(after.outbound) or 'none'}"
    if isinstance(before, KernelSettings) and isinstance(after, KernelSettings):
        names = [name for (name, _), old in zip(after.values, before.values, strict=False) if old[1] != _]
        return f": {', '.join(names[:4])}" if names else ""
    if before is not None and after is not None:
        described: list[tuple[str, Callable[[object], str]]] = [
            ("mtu", lambda value: f"MTU {value}"),
            ("enabled", lambda value: "up" if value else "down"),
        ]
        parts = [
            text(getattr(after, name))
            for name, text in described
            if getattr(before, name, None) != getattr(after, name, None)
        ]
        return f": {', '.join(parts)}" if parts else ""
    return ""


def _impact(before: LinuxObject | None, after: LinuxObject | None) -> str:
    if isinstance(before, (EthernetLink, VlanLink, LoopbackLink)) and before.enabled:
        if after is None or not getattr(after, "enabled", True):
            return f"loses packets on {before.name}"
    elif isinstance(before, LinkAddress) and after is None:
        return f"loses packets on {before.interface}"
    return "none"


def _path(item: LinuxObject) -> str:
    match item:
        case EthernetLink(name) | VlanLink(name) | LoopbackLink(name):
            return f"/interfaces/{escape(name)}"
        case LinkAddress(interface):
            return f"/interfaces/{escape(interface)}/addresses"
        case FilterList(name):
            return f"/acls/{escape(name)}"
        case FilterBinding(interface):
            return f"/interfaces/{escape(interface)}"
    return ""
