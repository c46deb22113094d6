"""The keywords that compete with an interface's name in a static route are those of FRR's own commands."""

from __future__ import annotations

import re
import subprocess

import pytest

from frr_config.protocols.static.names import ALONE, WITH_VALUE, WITHOUT_VALUE
from tests.integration.frr.harness import FrrHarness

_WORD = re.compile(r"\b[a-z][a-z-]+")


def test_every_keyword_at_the_place_of_the_interface_is_known(router: FrrHarness) -> None:
    listed = router.vtysh("configure terminal", "list").splitlines()
    alone: set[str] = set()
    after: set[str] = set()
    for line in (text.strip().removeprefix("[no] ") for text in listed):
        if not re.match(r"ip(?:v6)? route [<A-Z]", line):
            continue
        _, _, rest = line.partition(" route ")
        target, _, options = rest.partition(" [{")
        alone |= set(_WORD.findall(target)) - {"from"}
        # After an address, the words of either form of the command can stand where the interface is meant.
        after |= {word for word in _WORD.findall(options) if "<INTERFACE" in target}
    assert alone and after, "FRR lists no static routes"
    assert alone <= {*ALONE}, alone
    assert after <= {*WITH_VALUE, *WITHOUT_VALUE, "onlink", "multi-hop", "source", "profile"}, after


def test_a_beginning_of_a_keyword_is_read_as_the_keyword(router: FrrHarness) -> None:
    """Why these names are refused. Should FRR read them as names one day, they need not be."""
    try:
        router.vtysh("configure terminal", "ip route 198.51.105.0/24 r")
        assert "ip route 198.51.105.0/24 reject" in router.vtysh("show running-config")
        with pytest.raises(subprocess.CalledProcessError):  # of tag and table, it does not know which
            router.vtysh("configure terminal", "ip route 198.51.106.0/24 10.9.0.2 ta 5")
    finally:
        router.vtysh("configure terminal", "no ip route 198.51.105.0/24 reject")
