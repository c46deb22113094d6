"""VRFs on the linux data plane. Pure."""

from __future__ import annotations

from appliance.features.vrf.kernel import NEED, devices

NEEDS = (NEED,)
objects = devices
