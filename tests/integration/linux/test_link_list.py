"""Links decoded from bytes equal those that pyroute2 reads."""

from __future__ import annotations

import pytest

from appliance.dataplane.link_list import links
from appliance.dataplane.namespace import Attributes, attributes, is_up
from appliance.dataplane.netlink import attribute
from appliance.dataplane.nics import of_link
from tests.integration.linux.conftest import Router, run

pytestmark = pytest.mark.root
_HELD = b"\x02\x00\x00\x00\x00\x0b"


def test_nics_are_the_same_either_way(router: Router) -> None:
    run(router.middle, "ip", "link", "add", "br0", "type", "bridge")
    run(router.middle, "ip", "link", "set", "nic-l", "alias", "millrace:eth7 millrace-mac:02:00:00:00:00:01")
    space = router.backend._space
    told = space.run(lambda: list(space.route().get_links()))
    read = space.run(links)
    assert [of_link(link) for link in read] == [of_link(link) for link in told]
    assert {nic.mac for nic in map(of_link, read) if nic is not None} >= {"02:00:00:00:00:01"}
    for one, other in zip(read, told, strict=True):
        assert [one[name] for name in ("index", "flags", "ifi_type")] == [
            other[name] for name in ("index", "flags", "ifi_type")
        ]
    aliases = {attributes(link)["IFLA_IFNAME"]: attributes(link).get("IFLA_IFALIAS") for link in read}
    assert (aliases["nic-l"], aliases["br0"]) == ("millrace:eth7 millrace-mac:02:00:00:00:00:01", None)


def test_flags_are_read_in_the_namespace(router: Router) -> None:
    space = router.backend._space
    run(router.middle, "ip", "link", "set", "nic-l", "up")
    run(router.middle, "ip", "link", "set", "nic-r", "down")
    assert (space.run(is_up, "nic-l"), space.run(is_up, "nic-r")) == (True, False)


@pytest.mark.parametrize(("holder", "mac"), [(b"bond\0", "02:00:00:00:00:0b"), (b"bridge\0", None)])
def test_only_a_bond_says_what_address_a_link_gets_back(holder: bytes, mac: str | None) -> None:
    from appliance.dataplane import link_list

    information = attribute(4, holder) + attribute(5, attribute(4, _HELD))
    message = link_list._LINK.pack(0, 1, 7, 0, 0) + attribute(3, b"nic-l\0") + attribute(18, information)
    nic = of_link(link_list._told(message))
    assert (None if nic is None else nic.mac) == mac


class _Slot:
    """An attribute that says when it is decoded, as pyroute2's does it then."""

    def __init__(self, name: str, decoded: list[str]) -> None:
        self._name, self._decoded = name, decoded

    def __getitem__(self, at: int) -> str:
        if at == 1:
            self._decoded.append(self._name)
        return self._name if at == 0 else f"value of {self._name}"


def test_an_attribute_is_decoded_when_it_is_asked_for() -> None:
    decoded: list[str] = []
    found = Attributes([_Slot(name, decoded) for name in ("IFLA_IFNAME", "IFLA_STATS64", "IFLA_AF_SPEC")])
    assert "IFLA_STATS64" in found and len(found) == 3
    assert found["IFLA_IFNAME"] == "value of IFLA_IFNAME"
    assert decoded == ["IFLA_IFNAME"]
