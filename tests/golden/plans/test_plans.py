"""The plans of both data planes between documents, compared with files: order, texts, impact and paths.

``GOLDEN=write pytest tests/golden/plans`` rewrites them; read the difference before committing it.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from appliance.compile import CompileContext, Driver, compile_document
from appliance.config.load import parse_document
from appliance.dataplane.linux.plan import plan as linux_plan
from appliance.dataplane.nic import Nic
from appliance.dataplane.vpp.plan import plan as vpp_plan
from appliance.engine.backend import Step

HERE = Path(__file__).parent
ROUTER = HERE.parent / "appliance" / "router.json"
CONTEXT = CompileContext(
    (
        Nic("nic-lan", "02:4d:52:00:00:01", kind="veth"),
        Nic("nic-wan", "02:4d:52:00:00:02", kind="veth"),
        Nic("0000:00:05.0", "02:4d:52:00:00:03", "0000:00:05.0", pci_id="1af4:1000", attached=False),
    )
)
Document = dict[str, Any]


def _nothing(document: Document) -> None:
    document["interfaces"], document["acls"] = {}, {}


def _as_it_is(document: Document) -> None:
    """The router of tests/golden/appliance."""


def _a_new_nic(document: Document) -> None:
    """The parent of a sub-interface is another device: everything on both is made anew."""
    document["interfaces"]["wan0"]["match"] = {"device": "nic-lan"}
    document["interfaces"]["lan0"]["match"] = {"device": "nic-wan"}


def _other_lists(document: Document) -> None:
    """One list changes its rules, one is swapped for another, one interface loses its lists."""
    document["acls"]["edge-in"]["rules"]["10"]["action"] = "permit"
    document["acls"]["new"] = {"rules": {"5": {"action": "permit"}}}
    del document["acls"]["out"]
    document["interfaces"]["lan0"]["acl_out"] = ["new"]
    del document["interfaces"]["loop0"]["acl_in"]


def _up_and_down(document: Document) -> None:
    """One goes down and loses its lists, one comes up and gets some; MTUs of parent and VLAN shrink."""
    interfaces = document["interfaces"]
    interfaces["lan0"] |= {"enabled": False, "acl_in": [], "acl_out": []}
    interfaces["core0"] |= {"enabled": True, "acl_in": ["edge-in"], "addresses": ["10.20.0.1/24"]}
    interfaces["wan0"]["mtu"] = interfaces["wan0.100"]["mtu"] = 1400
    interfaces["loop0"]["addresses"] = ["10.255.0.2/32"]


CHANGES: dict[str, Callable[[Document], None]] = {
    "nothing": _nothing,
    "router": _as_it_is,
    "new-nic": _a_new_nic,
    "other-lists": _other_lists,
    "up-and-down": _up_and_down,
}


@pytest.mark.parametrize("driver", ["linux", "vpp"])
@pytest.mark.parametrize("change", CHANGES)
def test_plans_are_as_recorded(driver: Driver, change: str) -> None:
    """From the router to the changed one and back."""
    for before, after in (("router", change), (change, "router")):
        if before != after:
            _compare(f"{driver}.{before}-to-{after}.plan", _plan(driver, before, after))


def _plan(driver: Driver, before: str, after: str) -> Sequence[Step]:
    desired, observed = _compiled(driver, after), _compiled(driver, before)
    return linux_plan(desired, observed) if driver == "linux" else vpp_plan(desired, observed)


def _compiled(driver: Driver, change: str) -> Any:
    document = json.loads(ROUTER.read_text())
    if driver == "linux":
        del document["dataplane"]
    document = copy.deepcopy(document)
    CHANGES[change](document)
    return compile_document(parse_document(document), driver, CONTEXT)[driver]


def _compare(name: str, steps: Sequence[Step]) -> None:
    lines = []
    for step in steps:
        lines += [f"{step.phase}: {step.summary}", f"  undo: {step.undo_summary}"]
        lines += [f"  impact: {step.impact}"] if step.impact != "none" else []
        lines += [f"  path: {step.path}"] if step.path else []
    path, text = HERE / name, "\n".join([*lines, ""])
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text)
    assert path.read_text() == text
