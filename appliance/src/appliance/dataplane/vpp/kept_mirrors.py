"""Mirrors that outlive VPP: FRR keeps its interfaces, and so its sessions, while VPP restarts.

A mirror is a tap of VPP's, and disappears when no process has it open. A second queue of it is opened here
and detached at once (TUNSETQUEUE): no packet reaches that queue, and the tap stays, with its link up.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

import vpp_config
from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.namespace import Namespace
from appliance.dataplane.vpp.state import Mirrored, mirrored
from vpp_config import VppState

log = logging.getLogger(__name__)

_TUN = "/dev/net/tun"
_TUNSETIFF, _TUNSETQUEUE = 0x400454CA, 0x400454D9
_IFF_TUN, _IFF_TAP, _IFF_NO_PI, _IFF_VNET_HDR = 0x1, 0x2, 0x1000, 0x4000
_IFF_MULTI_QUEUE, _IFF_DETACH_QUEUE = 0x100, 0x400
_REQUEST = "16sH22x"
"""struct ifreq with flags (netdevice(7))."""
_MODES: Mapping[str, int] = {"tap": _IFF_TAP, "tun": _IFF_TUN}

Mode = Literal["tap", "tun"]
OpenQueue = Callable[[str, Mode], int | None]
"""Opens a detached queue of the mirror with this name, and returns its descriptor; None if there is no such
mirror. Raises OSError."""


class KeptMirrors:
    """The mirrors in ``space`` of the last state that VPP was seen to have. Thread-safe."""

    def __init__(self, space: Namespace, open_queue: OpenQueue | None = None) -> None:
        self._space = space
        self._open_queue = open_queue or _open_queue
        self._guard = threading.Lock()
        self._queues: dict[str, int] = {}
        self._state: VppState | None = None
        self._shown: Mirrored | None = None
        self._whole = False
        self._changes = 0

    @property
    def shown(self) -> Mirrored | None:
        """What the mirrors show; None if not every one is kept, or something was changed since."""
        return self._shown

    @property
    def whole(self) -> bool:
        """Whether every mirror is still kept, whatever it shows."""
        return self._whole

    def keep(self, state: VppState) -> None:
        """VPP had this state: keep its mirrors, and no others. One that cannot be kept goes with VPP.

        Does nothing while one is made or removed: a preview may have observed before that.
        """
        with self._guard:
            if state is self._state or self._changes:
                return
            self._state = state
            shown = mirrored(state)
            if shown == self._shown:
                return
            modes = _taps(state)
            for name in self._queues.keys() - modes.keys():
                self._close(name)
            try:
                for name in modes.keys() - self._queues.keys():
                    queue = self._space.run(self._open_queue, name, modes[name])
                    if queue is not None:
                        self._queues[name] = queue
            except (OSError, DataPlaneError) as error:
                log.warning("the Linux mirrors of VPP's interfaces do not outlive VPP: %s", error)
            self._whole = self._queues.keys() == modes.keys()
            self._shown = shown if self._whole else None

    @contextmanager
    def changing(self, name: str | None = None) -> Iterator[None]:
        """Something that mirrors show changes in the block; nothing is kept during it.

        With a name, that mirror itself is made or removed, and is released.
        """
        with self._guard:
            self._changes += 1
            self._state = self._shown = None
            if name is not None:
                self._whole = False
                self._close(name)
        try:
            yield
        finally:
            with self._guard:
                self._changes -= 1

    def release(self) -> None:
        """Release all: mirrors that no other process has open disappear."""
        with self._guard:
            self._state = self._shown = None
            self._whole = False
            for name in [*self._queues]:
                self._close(name)

    def _close(self, name: str) -> None:
        if (queue := self._queues.pop(name, None)) is not None:
            os.close(queue)


def _taps(state: VppState) -> dict[str, Mode]:
    """Mirrors that are taps; the mirror of a VLAN is a link on its NIC's mirror, and stays with it."""
    outer = {name for name, item in state.interfaces().items() if item.inside() is None}
    pairs = (item for item in state.values() if item.kind == vpp_config.LcpPair.kind)
    return {pair.host_if_name: pair.host_if_type for pair in pairs if pair.interface in outer}  # type: ignore[attr-defined]  # pairs


def _open_queue(name: str, mode: Mode) -> int | None:
    """Inside the mirrors' namespace."""
    try:
        # Without this flag the kernel would make a new tap of that name.
        socket.if_nametoindex(name)
    except OSError:
        return None
    queue = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        flags = _MODES[mode] | _IFF_NO_PI | _IFF_VNET_HDR | _IFF_MULTI_QUEUE
        fcntl.ioctl(queue, _TUNSETIFF, struct.pack(_REQUEST, name.encode(), flags))
        fcntl.ioctl(queue, _TUNSETQUEUE, struct.pack(_REQUEST, b"", _IFF_DETACH_QUEUE))
    except OSError as error:
        os.close(queue)
        if error.errno == errno.EINVAL:
            return None
        raise
    return queue
