"""The duration of planning: 1,000 interfaces, 5,000 addresses, 10,000 rules of access lists; no I/O."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from appliance.compile import CompileContext, Driver, compile_document
from appliance.config.load import parse_document
from appliance.dataplane.linux.plan import plan as linux_plan
from appliance.dataplane.linux.state import LinuxState
from appliance.dataplane.nic import Nic
from vpp_config import VppState
from vpp_config import plan as vpp_plan

INTERFACES, ADDRESSES, LISTS, RULES = 1000, 5, 10, 1000
ROUNDS = 5


def _document(**changes: Any) -> dict[str, Any]:
    interfaces: dict[str, Any] = {
        "wan0": {"type": "ethernet", "match": {"device": "nic0"}},
        **{
            f"vlan{number}": {"type": "sub_interface", "parent": "wan0", "vlan_id": number}
            for number in range(1, INTERFACES)
        },
    }
    for number, interface in enumerate(interfaces.values()):
        interface["addresses"] = [f"10.{number >> 5}.{(number & 31) * 8 + k}.1/24" for k in range(ADDRESSES)]
        interface["acl_in"] = [f"list{number % LISTS}"]
    rules = {
        str(k): {"action": "permit", "source": f"10.{k >> 8}.{k & 255}.0/24"} for k in range(1, RULES + 1)
    }
    document = {
        "interfaces": interfaces,
        "acls": {f"list{number}": {"rules": rules} for number in range(LISTS)},
    }
    document["interfaces"]["wan0"].update(changes)
    return document


def _compiled(driver: Driver, document: dict[str, Any]) -> Any:
    context = CompileContext((Nic("nic0", "02:4d:52:00:01:00"), Nic("nic1", "02:4d:52:00:01:01")))
    state = compile_document(parse_document(document), driver, context)[driver]
    return state.objects if driver == "vpp" else state


def _print(what: str, plan: Callable[..., Any], desired: Any, observed: Any) -> None:
    def seconds() -> float:
        start = time.process_time()
        plan(desired, observed)
        return time.process_time() - start

    best_s = min(seconds() for _ in range(ROUNDS))
    print(f"  {what:<34} {len(plan(desired, observed)):>6} steps  {best_s * 1000:8.1f} ms")


def test_planning() -> None:
    planes: tuple[tuple[Driver, Any, Any], ...] = (
        ("vpp", vpp_plan, VppState.of(())),
        ("linux", linux_plan, LinuxState.of(())),
    )
    for driver, plan, nothing in planes:
        full = _compiled(driver, _document())
        print(f"\n{driver}")
        _print("nothing to 1,000 interfaces", plan, full, nothing)
        _print("back to nothing", plan, nothing, full)
        _print("no change", plan, _compiled(driver, _document()), full)
        _print("one address", plan, _compiled(driver, _document(addresses=["10.200.0.1/24"])), full)
        _print("another NIC", plan, _compiled(driver, _document(match={"device": "nic1"})), full)
