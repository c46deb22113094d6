"""What VRFs need beside VPP: drivers of the kernel, and the feeder."""

from __future__ import annotations

import pytest

from appliance.dataplane.kernel_need import lacking
from appliance.features.vrf import linux, vpp


@pytest.mark.parametrize(
    ("kernel", "feeder", "word"), [(True, False, "linux_nl"), (False, True, "module vrf")]
)
def test_they_are_refused_with_the_reason_where_one_is_missing(kernel: bool, feeder: bool, word: str) -> None:
    assert word in lacking([vpp.NEEDS], lambda _: kernel, feeder=feeder)["vrf"]


def test_they_are_there_where_nothing_is_missing() -> None:
    assert lacking([vpp.NEEDS], lambda _: True, feeder=True) == {}


def test_a_kernel_that_forwards_needs_no_feeder() -> None:
    assert lacking([linux.NEEDS], lambda _: True) == {}
