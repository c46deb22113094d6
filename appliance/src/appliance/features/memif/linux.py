"""Memifs in the kernel: it has none, and refuses a link of this kind."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.dataplane.kernel_need import KernelNeed
from appliance.dataplane.linux.objects import LinuxObject
from appliance.dataplane.wanted import Wanted

NEEDS = (KernelNeed("memif", "memif", "memif is shared memory of VPP's: the linux data plane has none"),)


def objects(_wanted: Wanted) -> Iterator[LinuxObject]:
    """No objects: a document with a memif is refused earlier."""
    yield from ()
