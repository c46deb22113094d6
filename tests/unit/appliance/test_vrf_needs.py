"""What VRFs need beside VPP or the kernel's forwarding: drivers of the kernel."""

from __future__ import annotations

import pytest

from appliance.dataplane.kernel_need import lacking
from appliance.features.vrf import linux, vpp


@pytest.mark.parametrize("plane", [linux, vpp])
def test_they_are_refused_with_the_reason_where_the_driver_is_missing(plane: object) -> None:
    needs = plane.NEEDS  # type: ignore[attr-defined]  # one of two modules
    assert "module vrf" in lacking([needs], lambda _: False)["vrf"]
    assert lacking([needs], lambda _: True) == {}
