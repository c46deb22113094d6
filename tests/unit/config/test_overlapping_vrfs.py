"""Objects only in the default VRF do not conflict with a VRF with the same addresses, nor the reverse."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.validate import check
from appliance.features.nat.addresses import received

_VPP = Capabilities("vpp")


def _interfaces(in_blue: str, **more: dict[str, Any]) -> dict[str, Any]:
    return {
        # Named so that the VRF's comes last where interfaces are gathered in order.
        "lan0": {"type": "ethernet", "match": {"device": "l"}, "addresses": ["10.0.0.1/24"]},
        "wan0": {"type": "ethernet", "match": {"device": "w"}, "addresses": ["192.0.2.2/24"]},
        **more,
        "z0": {"type": "loopback", "addresses": [in_blue], "vrf": "blue"},
    }


def _pointers(interfaces: dict[str, Any], **more: Any) -> list[str]:
    document = parse_document({"interfaces": interfaces, "vrfs": {"blue": {}}, **more})
    return [problem.pointer for problem in check(document, _VPP)]


@pytest.mark.parametrize("in_blue", ["192.0.2.10/24", "192.0.2.2/24", "10.0.0.7/24", "203.0.113.9/24"])
def test_nat_translates_whatever_addresses_a_vrf_has(in_blue: str) -> None:
    mapping = {"outside_address": "192.0.2.10", "inside_address": "10.0.0.7"}
    nat = {
        "inside": ["lan0"],
        "outside": ["wan0"],
        "pools": {"p": {"addresses": ["203.0.113.9"]}},
        "static": {"web": mapping},
    }
    interfaces = _interfaces(in_blue)
    assert _pointers(interfaces, nat=nat) == []
    # The router answers for them itself, on a data plane where no interface does.
    config = parse_document({"interfaces": interfaces, "vrfs": {"blue": {}}, "nat": nat})
    assert config.nat is not None
    assert list(map(str, received(config, config.nat))) == ["192.0.2.10/32", "203.0.113.9/32"]


@pytest.mark.parametrize("in_blue", ["192.0.2.2/24", "198.51.100.1/32", "198.51.100.7/24"])
def test_a_tunnel_begins_and_ends_whatever_addresses_a_vrf_has(in_blue: str) -> None:
    gre = {"type": "gre", "source": "192.0.2.2", "destination": "198.51.100.1", "mtu": 1400}
    route = {"198.51.100.0/25": {"next_hops": [{"address": "192.0.2.1"}]}}
    assert _pointers(_interfaces(in_blue, tun0=gre), routing={"static": route}) == []


def test_a_tunnel_begins_at_no_address_that_a_vrf_alone_has() -> None:
    gre = {"type": "gre", "source": "203.0.113.9", "destination": "198.51.100.1", "mtu": 1400}
    assert _pointers(_interfaces("203.0.113.9/24", tun0=gre)) == ["/interfaces/tun0/source"]
