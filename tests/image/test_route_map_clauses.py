"""The FRR of the image knows the clauses of route maps that the table says of its release."""

from __future__ import annotations

from typing import Any

import pytest

from frr_config import FrrVersion
from frr_config.protocols.policy.clauses import DAEMONS, known
from tests.image.artefacts import Artefacts
from tests.image.fleet import Fleet, Member
from tests.image.kinds import VIRTIO
from tests.route_map_clauses import NAME, policy, told

KIND = VIRTIO
ADDRESS = "10.77.99.1"


@pytest.fixture(scope="module")
def member(fleet: Fleet, built: Artefacts) -> Member:
    """A router with VPP that forwards."""
    if built.dataplane != "vpp":
        pytest.skip("no VPP in this image")
    return fleet.member(KIND)


def _asked(member: Member, daemon: str, command: str) -> str:
    return member.router.root("vtysh", "-N", "dataplane", "-d", daemon, "-c", command)


def test_each_daemon_knows_what_the_table_says(member: Member) -> None:
    document: dict[str, Any] = member.document
    loopback = {"type": "loopback", "addresses": [f"{ADDRESS}/32"]}
    interfaces = {**document["interfaces"], "lo77": loopback}
    routing = {**document.get("routing", {})}
    given = policy("lo77", ADDRESS)
    routing["policy"] = {
        kind: {**routing.get("policy", {}).get(kind, {}), **objects} for kind, objects in given.items()
    }
    version = FrrVersion.parse(_asked(member, "zebra", "show version"))
    try:
        member.router.put({**document, "interfaces": interfaces, "routing": routing})
        for daemon in DAEMONS:
            assert told(_asked(member, daemon, f"show route-map {NAME} json")) == known(daemon, version), (
                daemon
            )
    finally:
        member.router.put(document)
