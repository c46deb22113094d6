"""Sub-interfaces beside their parent, where the kernel has VLANs."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.integration.linux.conftest import DOCUMENT, Router

pytestmark = pytest.mark.root


def _document(*, parent: bool, first: bool, second: bool) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    document["interfaces"]["left0"]["enabled"] = parent
    for vlan_id, enabled in ((10, first), (20, second)):
        document["interfaces"][f"left0.{vlan_id}"] = {
            "type": "sub_interface",
            "parent": "left0",
            "vlan_id": vlan_id,
            "addresses": [f"10.79.{vlan_id}.1/24"],
            "enabled": enabled,
        }
    return document


def test_they_are_up_and_down_on_their_own(router: Router) -> None:
    """The kernel refuses to bring one up on a parent that is down, and takes all down with the parent."""
    if "sub_interface" in router.backend.capabilities().lacking:
        pytest.skip("this kernel has no VLANs (8021q)")
    for parent in (False, True, False):
        for first, second in ((True, False), (False, True)):
            # The next plan being empty is part of it.
            router.commit(_document(parent=parent, first=first, second=second))
    router.commit(DOCUMENT)
