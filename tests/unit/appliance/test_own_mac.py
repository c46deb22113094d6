"""A virtual NIC's own MAC address, noted in its alias while it has another."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.dataplane.nics import of_link
from appliance.dataplane.own_mac import forget, keep, of_alias

_OWN, _BONDS = "02:00:00:00:00:01", "02:00:00:00:00:99"


class Link:
    """A namespace with one link, as rtnetlink tells of it."""

    def __init__(self, alias: str = "", permanent: str | None = None) -> None:
        self.alias, self.address, self.permanent = alias, _OWN, permanent

    def route(self) -> Any:
        return self

    def link_lookup(self, ifname: str) -> list[int]:
        return [7] if ifname == "nic0" else []

    def get_links(self, *_: int) -> list[Any]:
        known = {"IFLA_IFNAME": "nic0", "IFLA_ADDRESS": self.address, "IFLA_IFALIAS": self.alias}
        if self.permanent:
            known["IFLA_PERM_ADDRESS"] = self.permanent
        return [{"flags": 0, "ifi_type": 1, "index": 7, "attrs": list(known.items())}]

    def link(self, what: str, index: int, ifalias: str) -> None:
        assert (what, index) == ("set", 7)
        self.alias = ifalias

    @property
    def told_mac(self) -> str:
        nic = of_link(self.get_links()[0])
        assert nic is not None
        return nic.mac


@pytest.mark.parametrize("alias", ["", "uplink to the lab", "uplink millrace-mac:no"])
def test_the_own_address_is_told_while_the_nic_has_another(alias: str) -> None:
    space: Any = Link(alias)
    keep(space, "nic0", _BONDS)
    space.address = _BONDS
    assert (space.told_mac, of_alias(space.alias)) == (_OWN, _OWN)
    # Another bond, and a step that is taken again: what is noted stays.
    keep(space, "nic0", "02:00:00:00:00:98")
    forget(space, "nic0")
    assert space.told_mac == _OWN
    space.address = _OWN
    forget(space, "nic0")
    assert (space.alias, space.told_mac) == (alias, _OWN)


def test_nothing_is_noted_without_need() -> None:
    same: Any = Link("uplink")
    keep(same, "nic0", _OWN)
    forget(same, "nic0")
    assert same.alias == "uplink"
    real: Any = Link(permanent=_OWN)
    keep(real, "nic0", _BONDS)
    assert real.alias == ""
    keep(real, "gone", _BONDS)
