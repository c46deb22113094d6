"""Our encoding of access lists against vpp_papi's own, from VPP's installed definitions."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from vpp_papi.vpp_papi import VPPApiJSONFiles

from tests import requirements
from tests.integration.vpp.random_states import random_rule
from vpp_config import AclRule
from vpp_config.acl_codec import decode_details, encode_add_replace
from vpp_config.papi_client import API_DIRECTORY

pytestmark = pytest.mark.vpp

_ACTIONS = ("deny", "permit", "permit_reflect")


@pytest.fixture(scope="module")
def messages() -> Iterator[dict[str, Any]]:
    """Message definitions by name."""
    requirements.require_vpp()
    files = [
        next(API_DIRECTORY.rglob(f"{name}.api.json"))
        for name in ("ip_types", "ethernet_types", "interface_types", "acl_types", "acl")
    ]
    _, messages, _ = VPPApiJSONFiles.load_api(files)
    yield messages


def _as_papi(rule: AclRule) -> dict[str, Any]:
    first, second = rule.wire_ranges
    return {
        "is_permit": _ACTIONS.index(rule.action),
        "src_prefix": rule.source,
        "dst_prefix": rule.destination,
        "proto": rule.protocol,
        "srcport_or_icmptype_first": first[0],
        "srcport_or_icmptype_last": first[1],
        "dstport_or_icmpcode_first": second[0],
        "dstport_or_icmpcode_last": second[1],
        "tcp_flags_mask": rule.tcp_mask,
        "tcp_flags_value": rule.tcp_flags,
    }


def _rules() -> tuple[AclRule, ...]:
    random = Random(26)
    return tuple(random_rule(random) for _ in range(300))


def test_what_we_send(messages: dict[str, Any]) -> None:
    rules = _rules()
    fields = {
        "_vl_msg_id": 700, "client_index": 3, "context": 4, "acl_index": 5, "tag": "millrace:edge",
        "count": len(rules), "r": [_as_papi(rule) for rule in rules],
    }  # fmt: skip
    assert encode_add_replace(700, 3, 4, 5, "millrace:edge", rules) == messages["acl_add_replace"].pack(
        fields
    )


def test_what_we_read(messages: dict[str, Any]) -> None:
    rules = _rules()
    fields = {
        "_vl_msg_id": 700, "context": 4, "acl_index": 5, "tag": "millrace:edge",
        "count": len(rules), "r": [_as_papi(rule) for rule in rules],
    }  # fmt: skip
    details = decode_details(messages["acl_details"].pack(fields))
    assert (details.acl_index, details.tag, details.r) == (5, "millrace:edge", rules)
