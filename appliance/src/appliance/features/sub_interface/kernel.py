"""What sub-interfaces need from the kernel, on either data plane."""

from __future__ import annotations

from appliance.dataplane.kernel_need import KernelNeed

NEED = KernelNeed(
    "sub_interface", "vlan", "this machine's kernel has no 802.1Q support, so there are no sub-interfaces"
)
