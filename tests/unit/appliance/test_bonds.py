"""Bonds: compiled, applied to a simulated kernel, and their state while they run."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from appliance.cli.operational import state_output
from appliance.compile import CompileContext, compile_document
from appliance.config.load import parse_document
from appliance.config.pointer import join
from appliance.dataplane.linux.dump import Dump
from appliance.dataplane.linux.objects import EthernetLink, LinuxObject
from appliance.dataplane.linux.objects.bond_link import BondLink
from appliance.dataplane.linux.objects.bond_member import BondMember
from appliance.dataplane.linux.plan import Step, plan
from appliance.dataplane.linux.state import LinuxState
from appliance.dataplane.nic import Nic
from appliance.dataplane.nics import of_link
from appliance.errors import ValidationFailed
from appliance.state import bonds
from tests.unit.appliance.bonding_kernel import BondingKernel

NICS = tuple(Nic(f"eth{number}", f"02:4d:52:00:02:0{number}") for number in range(3))
_KINDS = (EthernetLink, BondLink, BondMember)
Json = dict[str, Any]


def _document(bond: Json | None, **others: Json) -> Json:
    interfaces: Json = {
        f"nic{number}": {"type": "ethernet", "match": {"device": f"eth{number}"}} for number in range(3)
    }
    for name, settings in others.items():
        interfaces[name] |= settings
    if bond is not None:
        interfaces["bond0"] = {"type": "bond", **bond}
    return {"interfaces": interfaces}


def _compile(document: Json, driver: Any, nics: tuple[Nic, ...] = NICS) -> Any:
    return compile_document(parse_document(document), driver, CompileContext(nics))[driver]


LACP = {"members": ["nic0", "nic1"], "minimum_links": 2, "lacp_rate": "slow", "mtu": 9000}
BACKUP = {"members": ["nic0", "nic1"], "mode": "active-backup", "primary": "nic1"}
STATES: dict[str, Json] = {
    "no bond": _document(None),
    "lacp": _document(LACP),
    "fast": _document({**LACP, "lacp_rate": "fast", "minimum_links": 1, "hash_policy": "layer2+3"}),
    "other members": _document({**LACP, "members": ["nic1", "nic2"], "mac": NICS[0].mac}),
    "small": _document({**LACP, "mtu": 1500, "enabled": False}),
    "backup": _document(BACKUP),
    "other primary": _document({**BACKUP, "primary": "nic0"}),
    "no primary": _document({**BACKUP, "primary": None}),
    "member down": _document({**BACKUP, "members": ["nic0", "nic1", "nic2"]}, nic2={"enabled": False}),
    "xor": _document({"members": ["nic2"], "mode": "balance-xor", "hash_policy": "layer2"}),
}


class _Router:
    """Plans and applies as the backend does, to the bonds and their NICs."""

    def __init__(self) -> None:
        self.kernel = BondingKernel(**{nic.device: nic.mac for nic in NICS})

    def observe(self) -> LinuxState:
        dump = Dump(self.kernel)  # type: ignore[arg-type]  # stands for an Access
        return LinuxState.of(item for kind in _KINDS for item in kind.observe(dump))

    def plan(self, document: Json) -> list[Step]:
        desired = _compile(document, "linux")
        return plan(
            LinuxState.of(item for item in desired.values() if isinstance(item, _KINDS)), self.observe()
        )

    def change(self, before: LinuxObject | None, after: LinuxObject | None) -> None:
        kernel: Any = self.kernel
        if after is None:
            assert before is not None
            before.delete(kernel)
        elif before is None:
            after.create(kernel)
        else:
            after.update(before, kernel)


@pytest.mark.parametrize("second", STATES)
@pytest.mark.parametrize("first", STATES)
def test_the_kernel_is_brought_from_each_bond_to_each_other_and_back(first: str, second: str) -> None:
    router = _Router()
    for step in router.plan(STATES[first]):
        router.change(step.before, step.after)
    assert router.plan(STATES[first]) == []
    before = router.observe()
    steps = router.plan(STATES[second])
    for step in steps:
        router.change(step.before, step.after)
    assert router.plan(STATES[second]) == []
    for step in reversed(steps):
        router.change(step.after, step.before)
    assert dict(router.observe()) == dict(before)


def test_what_can_change_in_place_leaves_the_bond_and_its_members_alone() -> None:
    router = _Router()
    for step in router.plan(STATES["fast"]):
        router.change(step.before, step.after)
    changed = {**LACP, "lacp_rate": "fast", "minimum_links": 2}
    (step,) = router.plan(_document(changed))
    assert step.summary == "change bond bond0: hash policy layer3+4, minimum links 2"
    assert step.impact == "loses packets on bond0"


def test_a_member_is_known_by_its_own_mac_address_and_a_bond_is_no_nic() -> None:
    router = _Router()
    for step in router.plan(STATES["lacp"]):
        router.change(step.before, step.after)
    seen = [of_link(message) for message in router.kernel.get_links()]
    assert [nic and nic.mac for nic in seen] == [*(nic.mac for nic in NICS), None]


def test_vpp_gets_members_with_the_bonds_mac_address_and_mtu_and_no_mirror_of_them() -> None:
    document = _document({**LACP, "minimum_links": 1, "addresses": ["10.0.0.1/24"]})
    objects = _compile(document, "vpp").objects
    bond = objects["bond/bond0"]
    assert (bond.mode, bond.load_balance, bond.mac, bond.mtu) == ("lacp", "l34", NICS[0].mac, 9000)
    for name in ("nic0", "nic1"):
        assert (objects[f"ethernet/{name}"].mac, objects[f"ethernet/{name}"].mtu) == (NICS[0].mac, 9000)
        assert objects[f"bond_member/{name}"].long_timeout
    assert {key for key in objects if key.startswith("lcp_pair")} == {"lcp_pair/bond0", "lcp_pair/nic2"}


def test_a_member_whose_nic_is_gone_is_left_out_and_the_address_stays() -> None:
    gone = (Nic("eth0", NICS[0].mac, present=False), *NICS[1:])
    objects = _compile(_document({"members": ["nic0", "nic1"]}), "vpp", gone).objects
    assert "bond_member/nic0" not in objects
    assert objects["bond/bond0"].mac == objects["ethernet/nic1"].mac == NICS[0].mac


def test_a_virtual_nic_that_would_not_be_found_again_is_refused_by_name() -> None:
    nics = (Nic("eth0", NICS[0].mac, kind="veth"), *NICS[1:])
    document = _document({"members": ["nic0"]}, nic0={"match": {"mac": NICS[0].mac}})
    with pytest.raises(ValidationFailed) as refused:
        _compile(document, "vpp", nics)
    assert [problem.pointer for problem in refused.value.problems] == [
        join(["interfaces", "nic0", "match", "mac"])
    ]
    assert _compile(document, "linux", nics)


DETAILS = """\
BondEthernet7
  mode: lacp
  load balance: l34
  number of active members: 2
    host-nic0
    host-nic1
  number of members: 3
    host-nic0
    host-nic1
    host-nic2
  device instance: 0
  interface id: 7
BondEthernet8
  mode: active-backup
  load balance: active-backup
  number of active members: 2
    host-nic4
      weight: 100, is_local_numa: 1, sw_if_index: 5
    host-nic3
      weight: 0, is_local_numa: 1, sw_if_index: 4
  number of members: 2
    host-nic3
    host-nic4
BondEthernet9
  number of active members: 2
    something else
"""


def test_vpps_words_are_read_and_what_is_not_understood_is_left_out() -> None:
    assert bonds.used_members(DETAILS) == {
        "BondEthernet7": ["host-nic0", "host-nic1"],
        "BondEthernet8": ["host-nic4", "host-nic3"],
    }


class _Client:
    """VPP's answers about two bonds, in which one member each is not used."""

    def dump(self, name: str, **fields: Any) -> list[Any]:
        return list(getattr(self, name)(**fields))

    def call(self, name: str, **fields: Any) -> Any:
        assert (name, fields) == ("cli_inband", {"cmd": "show bond details"})
        return SimpleNamespace(reply=DETAILS)

    def sw_bond_interface_dump(self, sw_if_index: int) -> list[Any]:
        return [
            SimpleNamespace(sw_if_index=7, mode=5, interface_name="BondEthernet7"),
            SimpleNamespace(sw_if_index=8, mode=2, interface_name="BondEthernet8"),
        ]

    def sw_interface_dump(self, sw_if_index: int) -> list[Any]:
        return [SimpleNamespace(sw_if_index=index, flags=3) for index in range(9)]

    def sw_member_interface_dump(self, sw_if_index: int) -> list[Any]:
        members = {7: (0, 2), 8: (3, 4)}[sw_if_index]
        return [SimpleNamespace(sw_if_index=index, interface_name=f"host-nic{index}") for index in members]

    def sw_interface_lacp_dump(self) -> list[Any]:
        ports = {"actor_key": 7, "partner_key": 9, "actor_port_number": 1, "partner_port_number": 2}
        both = {"actor_system": "02:00:00:00:00:01", "partner_system": "02:00:00:00:00:02"}
        nobody = {"actor_system": "02:00:00:00:00:01", "partner_system": "00:00:00:00:00:00"}
        return [
            SimpleNamespace(sw_if_index=0, actor_state=0x3F, partner_state=0x3D, **both, **ports),
            SimpleNamespace(sw_if_index=2, actor_state=0x47, partner_state=0, **nobody, **ports),
        ]


def test_a_bond_in_vpp_tells_which_members_are_used_and_why_others_are_not() -> None:
    names = {7: "bond0", 8: "bond1", **{index: f"lan{index}" for index in range(5)}}
    vpp: Any = SimpleNamespace(client=_Client(), names=lambda: names)
    first, second = bonds.on_vpp(vpp)
    assert (first.name, first.mode, first.active_members) == ("bond0", "802.3ad", 1)
    used, waiting = first.members
    assert (used.interface, used.state, used.partner_system) == ("lan0", "active", "02:00:00:00:00:02")
    assert used.partner is not None
    assert used.partner.flags == ("activity", "aggregation", "synchronization", "collecting", "distributing")
    assert (waiting.interface, waiting.state, waiting.partner) == ("lan2", "waiting", None)
    assert waiting.reason == "no LACP packet has come from the other end"
    assert [(one.interface, one.state) for one in second.members] == [("lan3", "standby"), ("lan4", "active")]

    shown = state_output(bonds.BONDS, bonds.Bonds(bonds=(first, second))).shown
    assert re.search(r"^bond0 +lan0 +active +02:00:00:00:00:02 ", shown, re.MULTILINE), shown


def test_a_bond_in_the_kernel_tells_which_members_are_used_and_why_others_are_not() -> None:
    router = _Router()
    for step in router.plan(STATES["backup"]):
        router.change(step.before, step.after)
    kernel: Any = router.kernel
    active = kernel.index("nic1")
    router.kernel.links[kernel.index("bond0")].data["IFLA_BOND_ACTIVE_SLAVE"] = active
    (bond,) = bonds.in_the_kernel(kernel)
    assert [(one.interface, one.state) for one in bond.members] == [("nic0", "standby"), ("nic1", "active")]
    router.kernel.links[active].up = False
    (bond,) = bonds.in_the_kernel(kernel)
    assert [(one.state, one.reason) for one in bond.members][1] == ("down", "it is disabled")
