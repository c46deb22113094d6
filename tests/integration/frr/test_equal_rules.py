"""Why a prefix list with equal rules is refused: each daemon keeps only one of them, and says nothing."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from frr_config import Routing
from tests.integration.frr.harness import FrrHarness

pytestmark = pytest.mark.root

_DAEMONS = ("zebra", "bgpd", "ospfd")
_RULES = {"5": {"action": "permit", "prefix": "10.9.0.0/16", "le": 24}}


def test_of_equal_rules_every_daemon_keeps_one(empty_router: FrrHarness) -> None:
    equal = _RULES | {"10": _RULES["5"]}
    with pytest.raises(ValidationError, match="rule 10 is the same as rule 5"):
        Routing.model_validate({"policy": {"prefix_lists": {"twice": {"rules": equal}}}})
    lines = [f"ip prefix-list twice seq {at} permit 10.9.0.0/16 le 24" for at in (5, 10)]
    try:
        empty_router.vtysh("configure terminal", *lines)
        assert _kept(empty_router) == dict.fromkeys(_DAEMONS, 1)
    finally:
        empty_router.vtysh("configure terminal", "no ip prefix-list twice")


def _kept(router: FrrHarness) -> dict[str, int]:
    client = router.client()
    return {
        daemon: client.show(daemon, "show running-config").count("ip prefix-list twice seq")
        for daemon in _DAEMONS
    }
