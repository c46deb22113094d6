"""Captures by VPP itself: into its memory, written to a file of its own when they end."""

from __future__ import annotations

import os
import re
import secrets
import stat
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from appliance.capture import tcpdump
from appliance.capture.pcap_file import Records
from appliance.capture.source import CaptureFailed, Ended
from appliance.errors import Conflict, NotFound, Problem, ValidationFailed
from appliance.state.captures import CaptureWanted

if TYPE_CHECKING:
    from appliance.dataplane.base import DataPlane
    from appliance.dataplane.looking import KernelLooking, VppLooking

T = TypeVar("T")
MOST_MEMORY_BYTES = 16 * 1024 * 1024
"""Of VPP's main heap, which routes and sessions need."""
_RECORD_BYTES = 16
_FOLDER = Path("/tmp")
"""Where VPP puts its capture files (unformat_vlib_tmpfile); the agent's unit shares it with VPP's."""
_PREFIX = "millrace-capture-"
_POLL_S = 0.3
_PIECE_BYTES = 1024 * 1024
_ours: set[str] = set()
"""Files of the captures that this process runs."""
_CAPTURED = re.compile(r"(\d+) of (\d+) pkts")


class VppSource:
    """Packets as VPP receives and sends them on an interface.

    VPP has only one capture. Its build may lack packet filters, so the filter is applied afterwards.
    """

    note = (
        "VPP captures into its memory and writes the file when the capture ends. The filter is applied then: "
        "the limit of packets also counts those that the filter leaves out."
    )

    def __init__(self, dataplane: DataPlane, folder: Path = _FOLDER) -> None:
        self._dataplane, self._folder = dataplane, folder
        self._name = f"{_PREFIX}{secrets.token_hex(12)}.pcap"

    def begin(self, wanted: CaptureWanted) -> None:
        """Have VPP capture. Raises NotFound, Conflict while it does already, ValidationFailed."""
        room = MOST_MEMORY_BYTES // (wanted.snap_bytes + _RECORD_BYTES)
        if wanted.packets > room:
            raise ValidationFailed(
                [
                    Problem(
                        "/packets",
                        f"VPP has room for {room:,} packets of {wanted.snap_bytes:,} bytes: "
                        "ask for fewer packets, or fewer bytes of each",
                    )
                ]
            )
        self._ask(lambda vpp: self._begin(vpp, wanted))

    def run(self, wanted: CaptureWanted, records: Records, stop: threading.Event) -> Ended:
        """Wait for the first limit, then take VPP's file."""
        end = time.monotonic() + wanted.seconds
        why = ""
        try:
            while not why:
                if stop.wait(min(_POLL_S, max(0.0, end - time.monotonic()))):
                    why = "it was stopped"
                elif time.monotonic() >= end:
                    why = f"the limit of {wanted.seconds} seconds was reached"
                elif self._ask(_captured) >= wanted.packets:
                    why = f"the limit of {wanted.packets} packets was reached"
        finally:
            _ours.discard(self._name)
            written = self._ask(_end)
        if written:
            self._take(wanted, records)
        # A limit of bytes is met by the file, after VPP's own limits.
        return Ended(records.full or why)

    def _begin(self, vpp: VppLooking, wanted: CaptureWanted) -> None:
        index = next((index for index, name in vpp.names().items() if name == wanted.interface), None)
        if index is None:
            raise NotFound(f"VPP has no interface {wanted.interface}")
        status = _status(vpp)
        if "enabled" in status:
            if _PREFIX not in status:
                raise Conflict(
                    "VPP already runs a capture that the router's agent did not start: end it first"
                )
            if any(name in status for name in _ours):
                raise Conflict("VPP already runs a capture, and runs only one at a time: stop that capture")
            # An agent that ended left it.
            _end(vpp)
        for left in self._folder.glob(f"{_PREFIX}*.pcap"):
            with suppress(OSError):
                left.unlink()
        vpp.client.call(
            "pcap_trace_on",
            capture_rx=wanted.direction != "out",
            capture_tx=wanted.direction != "in",
            capture_drop=False,
            filter=False,
            preallocate_data=True,
            free_data=True,
            max_packets=wanted.packets,
            max_bytes_per_packet=wanted.snap_bytes,
            sw_if_index=index,
            error="",
            filename=self._name,
        )
        _ours.add(self._name)

    def _take(self, wanted: CaptureWanted, records: Records) -> None:
        path = self._folder / self._name
        try:
            # Without waiting: a VPP that was taken over may put a pipe there.
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise CaptureFailed(f"VPP's file cannot be read: {error.strerror}") from error
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CaptureFailed("the path of VPP's file is not a file")
            if wanted.filter:
                tcpdump.filtered(descriptor, wanted.filter, records)
            else:
                while (data := os.read(descriptor, _PIECE_BYTES)) and not records.full:
                    records.feed(data)
        finally:
            os.close(descriptor)
            path.unlink(missing_ok=True)

    def _ask(self, question: Callable[[VppLooking], T]) -> T:
        return self._dataplane.look(vpp=question, linux=_not_here)


def _not_here(_kernel: KernelLooking) -> NoReturn:
    raise CaptureFailed("VPP does not forward on this router")


def _status(vpp: VppLooking) -> str:
    return str(vpp.client.call("cli_inband", cmd="pcap trace status").reply)


def _captured(vpp: VppLooking) -> int:
    """Packets so far. Raises CaptureFailed when VPP has forgotten the capture: it was restarted."""
    status = _status(vpp)
    if "enabled" not in status:
        raise CaptureFailed("VPP no longer captures: it was restarted, or somebody ended the capture")
    found = _CAPTURED.search(status)
    return int(found[1]) if found else 0


def _end(vpp: VppLooking) -> bool:
    """End VPP's capture; whether it wrote a file: without packets it does not."""
    captured = _status(vpp)
    if "enabled" not in captured:
        return False
    found = _CAPTURED.search(captured)
    if found and found[1] == "0":
        from vpp_config.errors import VppApiError

        # It says that nothing was captured.
        with suppress(VppApiError):
            vpp.client.call("pcap_trace_off")
            return True
        return False
    vpp.client.call("pcap_trace_off")
    return True
