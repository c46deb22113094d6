"""Checksums of LSAs: the same in the list and in the detail, whatever zeros ospfd omits."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Any

import pytest

from frr_config.protocols.ospf.database import details, lsas


class _Frr:
    """An ospfd with one LSA."""

    def __init__(self, checksum: Any) -> None:
        self._one = {"lsId": "10.0.0.1", "advertisedRouter": "10.0.0.1", "checksum": checksum}

    def ospf_database(self, words: str = "") -> dict[str, Any]:
        if words:
            return {"linkStateId": "10.0.0.1", "advertisingRouter": "10.0.0.1", **self._one}
        return {"areas": {"0.0.0.0": {"routerLinkStates": [self._one]}}}


@pytest.mark.parametrize(
    ("said", "shown"),
    [("80b", "0x080b"), ("e4fb", "0xe4fb"), ("0x1", "0x0001"), ("odd", "odd"), (None, None)],
)
def test_a_checksum_has_four_digits(said: Any, shown: str | None) -> None:
    frr: Any = _Frr(said)
    (listed,) = lsas(frr)
    (detail,) = details(frr, "router", IPv4Address("10.0.0.1"))
    assert listed.checksum == detail.detail["checksum"] == shown
