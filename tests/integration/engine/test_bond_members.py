"""A NIC that leaves a bond has the MAC address it had before, on either data plane."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from appliance.engine.records import CommitRequest
from appliance.state.commit_options import CommitOptions
from tests.real_router import RealRouter

pytestmark = [pytest.mark.root, pytest.mark.vpp]


def _alone() -> dict[str, Any]:
    return {
        "schema_version": 1,
        "interfaces": {
            f"part{number}": {"type": "ethernet", "match": {"device": f"nic{number}"}} for number in range(2)
        },
    }


def _bonded() -> dict[str, Any]:
    document = _alone()
    document["interfaces"]["bond0"] = {
        "type": "bond",
        "mode": "active-backup",
        "members": ["part0", "part1"],
    }
    return document


def test_a_nic_that_leaves_a_bond_has_its_own_mac_address_again(
    make_router: Callable[[Path], RealRouter], tmp_path: Path
) -> None:
    router = make_router(tmp_path)
    engine = router.engine()
    engine.recover()
    if lacks := engine.capabilities.lacking.get("bond"):
        pytest.skip(lacks)
    own = {nic.device: nic.mac for nic in router.nics}
    assert len(set(own.values())) == len(own)
    for document in (_bonded(), _alone(), _bonded(), _alone()):
        result = engine.commit(CommitRequest(document, CommitOptions(author="test")))
        assert result.state == "done", result.error
        assert {nic.device: nic.mac for nic in router.nics} == own
        assert engine.preview(document).steps == ()
    shown = {row.device: row.mac for row in router.dataplane.interfaces_state() if row.device in own}
    assert shown == {"nic0": own["nic0"], "nic1": own["nic1"]}
    engine.rollback(0, CommitOptions(author="test", comment="back to nothing"))
    engine.close()
