"""The results of a router's captures, for the tests of both data planes."""

from __future__ import annotations

import time
from pathlib import Path

from scapy.packet import Packet
from scapy.utils import rdpcap

from appliance.capture.captures import CaptureFiles
from appliance.state.captures import CaptureState

_PART_BYTES = 10**6


def when_ended(files: CaptureFiles, state: CaptureState, timeout_s: float = 15) -> CaptureState:
    """The capture once it has ended without being stopped."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        now = next(one for one in files.all() if one.id == state.id)
        if now.state != "running":
            return now
        time.sleep(0.05)
    raise AssertionError("the capture did not end")


def packets_of(files: CaptureFiles, state: CaptureState, tmp_path: Path) -> list[Packet]:
    """Its packets, read in parts as a download is."""
    path = tmp_path / "read.pcap"
    data = b""
    while part := files.read(state.id, len(data), _PART_BYTES):
        data += part
    path.write_bytes(data)
    return list(rdpcap(str(path)))
