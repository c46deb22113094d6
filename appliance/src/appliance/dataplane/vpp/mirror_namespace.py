"""The namespace of the mirrors, next to VPP: its kernel settings, and what the mirrors are placed in."""

from __future__ import annotations

from typing import Any

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.control_plane import policy
from appliance.dataplane.control_plane.guard import ControlPlaneGuard
from appliance.dataplane.control_plane.policy import ControlPlane
from appliance.dataplane.link_list import links
from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.dump import OURS, Dump
from appliance.dataplane.linux.objects import MIRROR_KINDS
from appliance.dataplane.linux.state import KernelSettings, LinuxState
from appliance.dataplane.linux.sysctl import MIRRORS
from appliance.dataplane.namespace import Namespace, attributes, is_up, read_sysctl, write_sysctl

_LO = 1
_SETTINGS = KernelSettings(()).key


class MirrorNamespace:
    """The settings and objects of the namespace. Called inside it. Raises DataPlaneError."""

    def __init__(self, space: Namespace) -> None:
        self._space = space
        self._guard = ControlPlaneGuard()
        self._access = Access(space, _no_nics, _no_nics)

    def observe(self) -> tuple[KernelSettings, ControlPlane | None, LinuxState]:
        """``settings``, ``control_plane`` and ``objects``."""
        return self.settings(), self.control_plane(), self.objects()

    def settings(self) -> KernelSettings:
        """The mirrors' sysctls."""
        values = tuple((name, read_sysctl(name) or "") for name, _ in MIRRORS)
        return KernelSettings(values, is_up("lo"))

    def control_plane(self) -> ControlPlane | None:
        """What the router lets in for itself; None if nothing guards it."""
        return self._guard.observe()

    def objects(self) -> LinuxState:
        """What the mirrors are in. If no link is ours, they are in nothing, and none is read."""
        if not any(str(attributes(link).get("IFLA_IFALIAS") or "").startswith(OURS) for link in links()):
            return LinuxState({})
        dump = Dump(self._access)
        return LinuxState.of(item for kind in MIRROR_KINDS for item in kind.observe(dump))

    def change(self, key: str, before: Any, after: Any) -> None:
        """Bring what has this key from one state to another; None is absence."""
        if key == policy.KEY:
            self._guard.change(after)
        elif key == _SETTINGS:
            self._set(after)
        elif after is None:
            before.delete(self._access)
        else:
            after.create(self._access)

    def _set(self, wanted: KernelSettings) -> None:
        for name, value in wanted.values:
            if read_sysctl(name) != value:
                write_sysctl(name, value)
        self._space.route().link("set", index=_LO, state="up" if wanted.loopback_up else "down")


def _no_nics(device: str) -> Any:
    raise DataPlaneError(f"NIC {device} is VPP's, and does not move")
