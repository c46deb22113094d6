"""Our decoding of routes against vpp_papi's own, from VPP's installed definitions."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_network
from random import Random
from typing import Any

import pytest
from vpp_papi.vpp_papi import VPPApiJSONFiles

from tests import requirements
from vpp_config.papi_client import API_DIRECTORY
from vpp_config.route_codec import decode_details, decode_lookup_reply

pytestmark = pytest.mark.vpp

_READ = ("sw_if_index", "table_id", "weight", "preference", "type", "proto")


@pytest.fixture(scope="module")
def messages() -> Iterator[dict[str, Any]]:
    """Message definitions by name."""
    requirements.require_vpp()
    files = [
        next(API_DIRECTORY.rglob(f"{name}.api.json"))
        for name in ("ip_types", "interface_types", "mfib_types", "fib_types", "ip")
    ]
    _, messages, _ = VPPApiJSONFiles.load_api(files)
    yield messages


def _path(random: Random, version: int) -> dict[str, Any]:
    address: dict[str, IPv4Address | IPv6Address] = (
        {"ip4": IPv4Address(random.getrandbits(32))}
        if version == 4
        else {"ip6": IPv6Address(random.getrandbits(128))}
    )
    return {
        "sw_if_index": random.choice((0xFFFFFFFF, random.getrandbits(20))),
        "table_id": random.getrandbits(32),
        "rpf_id": random.getrandbits(32),
        "weight": random.getrandbits(8),
        "preference": random.getrandbits(8),
        "type": random.randrange(11),
        "flags": 0,
        "proto": 0 if version == 4 else 1,
        "nh": {"address": address, "via_label": 16, "obj_id": 17, "classify_table_index": 18},
        "n_labels": 1,
        "label_stack": [
            {"is_uniform": 0, "label": random.getrandbits(20), "ttl": 64, "exp": 3} for _ in range(16)
        ],
    }


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("name", ["ip_route_lookup_v2_reply", "ip_route_v2_details"])
def test_what_we_read(messages: dict[str, Any], name: str, version: int) -> None:
    random = Random(26)
    for paths in (0, 1, 2, 64):
        route = {
            "table_id": random.getrandbits(32),
            "stats_index": random.getrandbits(32),
            "prefix": ip_network("198.51.100.0/24" if version == 4 else "2001:db8::/48"),
            "n_paths": paths,
            "src": random.getrandbits(8),
            "paths": [_path(random, version) for _ in range(paths)],
        }
        head = {"_vl_msg_id": 700, "context": 4}
        fields = {**head, "route": route, **({} if name.endswith("details") else {"retval": 0})}
        raw: bytes = messages[name].pack(fields)
        theirs = messages[name].unpack(raw)[0].route
        ours = (decode_details if name.endswith("details") else decode_lookup_reply)(raw).route
        read = ("table_id", "prefix", "n_paths", "src")
        assert [getattr(ours, field) for field in read] == [getattr(theirs, field) for field in read]
        assert len(ours.paths) == paths
        for our, their in zip(ours.paths, theirs.paths, strict=True):
            assert [getattr(our, field) for field in _READ] == [int(getattr(their, field)) for field in _READ]
            assert our.nh.address.ip4 == their.nh.address.ip4
            assert our.nh.address.ip6 == their.nh.address.ip6


def test_a_refused_look_up_says_why(messages: dict[str, Any]) -> None:
    refused = messages["ip_route_lookup_v2_reply"].pack({"_vl_msg_id": 700, "context": 4, "retval": -6})
    assert decode_lookup_reply(refused).retval == -6
