"""A client to test against: the fake, and a private VPP where one is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tests import requirements
from tests.integration.vpp.harness import PrivateVpp
from vpp_config import Session, VppClient, VppState, plan
from vpp_config.fake import FakeVpp

HOST_DEVICES = ("nic0", "nic1")


@dataclass(frozen=True)
class Target:
    """Something that behaves like VPP; ``restart`` makes it lose everything."""

    name: str
    client: VppClient
    netns: str
    restart: Callable[[], None]

    def session(self) -> Session:
        """A new session."""
        return Session(self.client)


@pytest.fixture(scope="module")
def private_vpp() -> Iterator[PrivateVpp]:
    """One real VPP for a module's tests."""
    requirements.require_root_netns()
    requirements.require_vpp()
    with PrivateVpp(nics=len(HOST_DEVICES)) as vpp:
        yield vpp


@pytest.fixture(params=["fake", pytest.param("real", marks=[pytest.mark.vpp, pytest.mark.root])])
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """The fake, and the real one emptied after each test."""
    if request.param == "fake":
        fake = FakeVpp(HOST_DEVICES)
        yield Target("fake", fake, "dataplane", fake.restart)
        return
    vpp: PrivateVpp = request.getfixturevalue("private_vpp")

    def restart() -> None:
        vpp.kill()
        vpp.start()

    client = vpp.client()
    yield Target("real", client, vpp.mirror_namespace, restart)
    session = Session(client)
    for step in plan(VppState.of(()), session.observe()):
        session.apply(step)
    # Objects that a test made without our tag.
    for row in client.dump("sw_interface_dump", sw_if_index=0xFFFFFFFF):
        if row.sup_sw_if_index != row.sw_if_index:
            continue  # goes with its parent
        if row.interface_name.startswith("host-"):
            client.call("af_packet_delete", host_if_name=row.interface_name.removeprefix("host-"))
        elif row.interface_name.startswith("BondEthernet"):
            client.call("bond_delete", sw_if_index=row.sw_if_index)
        elif row.interface_name.startswith("memif"):
            client.call("memif_delete", sw_if_index=row.sw_if_index)
        elif row.interface_name.startswith("gre"):
            (found,) = client.dump("gre_tunnel_v2_dump", sw_if_index=row.sw_if_index)
            client.call("gre_tunnel_add_del_v2", is_add=False, tunnel=found.tunnel._asdict())
        elif row.interface_name.startswith("ipip"):
            client.call("ipip_del_tunnel", sw_if_index=row.sw_if_index)
        elif row.interface_name.startswith("loop"):
            client.call("delete_loopback", sw_if_index=row.sw_if_index)
    for acl in client.dump("acl_dump", acl_index=0xFFFFFFFF):
        client.call("acl_del", acl_index=acl.acl_index)
    for table in client.dump("ip_table_dump"):
        if table.table.table_id:
            client.call("ip_table_add_del_v2", is_add=False, create_mfib=True, table=table.table._asdict())
    client.close()
