"""What the kernel lets in for the router itself. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.dataplane.control_plane.compile import compile_control_plane
from appliance.dataplane.linux.objects import ControlPlane, LinuxObject
from appliance.dataplane.wanted import Wanted


def objects(wanted: Wanted) -> Iterator[LinuxObject]:
    """The guard."""
    yield ControlPlane.of(compile_control_plane(wanted.config))
