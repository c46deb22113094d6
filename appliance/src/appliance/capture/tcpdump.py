"""tcpdump as a child process: it compiles filters, and captures from the kernel's interfaces.

It drops root's rights before it reads the first packet, and writes into a pipe: the agent, which writes the
file, never parses a packet.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import re
import select
import subprocess
import threading
import time

from appliance.capture.pcap_file import Records
from appliance.capture.source import CaptureFailed, Ended
from appliance.dataplane.namespace import NAMESPACES
from appliance.errors import Problem, RouterUnavailable, ValidationFailed
from appliance.state.captures import CaptureWanted

_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
_COMPILE_S = 5.0
_START_S = 5.0
_PIPE_BYTES = 1024 * 1024
_BUFFER_KIB = 8192
"""Of the kernel, for packets that were not read yet."""
_ERROR_BYTES = 8192
_DROPPED = re.compile(r"^(\d+) packets? dropped by (?:kernel|interface)", re.MULTILINE)
_LISTENING = "listening on "
_DIRECTIONS = {"both": "inout", "in": "in", "out": "out"}


def require_filter(netns: str, expression: str, snap_bytes: int) -> None:
    """Compile a filter. Raises ValidationFailed with libpcap's own reason, RouterUnavailable."""
    if not expression:
        return
    # In the router's namespace, where no name server answers: a filter has numbers only.
    argv = _argv(netns, ["tcpdump", "-ddd", "-y", "EN10MB", "-s", str(snap_bytes), "--", expression])
    try:
        done = subprocess.run(
            argv, env=_ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=_COMPILE_S,
        )  # fmt: skip
    except FileNotFoundError:
        raise _missing() from None
    except subprocess.TimeoutExpired:
        reason = "took too long to compile: give addresses and port numbers instead of names"
        raise ValidationFailed([Problem("/filter", reason)]) from None
    if done.returncode != 0:
        said = done.stderr[:_ERROR_BYTES].decode(errors="replace").strip().splitlines()
        if said and said[0].startswith("nsenter:"):
            raise RouterUnavailable(f"the router's network namespace cannot be entered: {said[0]}")
        raise ValidationFailed([Problem("/filter", _reason(said))])


def filtered(file: int, expression: str, records: Records) -> None:
    """Feed ``records`` with the packets of an open pcap file that pass a filter. Raises CaptureFailed."""
    argv = ["tcpdump", "-r", "-", "-w", "-", "-U", *_user(), "--", expression]
    try:
        with subprocess.Popen(
            argv, env=_ENVIRONMENT, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout is not None
            while not records.full and (data := os.read(process.stdout.fileno(), _PIPE_BYTES)):
                records.feed(data)
            if records.full:
                process.kill()
    except FileNotFoundError:
        raise _missing() from None
    if not records.full and process.returncode != 0:
        raise CaptureFailed(f"the filter was not applied: tcpdump ended with status {process.returncode}")


class KernelSource:
    """Packets of an interface of the router's namespace, from the kernel."""

    note = ""

    def __init__(self, netns: str) -> None:
        self._netns = netns
        self._process: subprocess.Popen[bytes] | None = None
        self._said = bytearray()

    def begin(self, wanted: CaptureWanted) -> None:
        """Start tcpdump and wait until it listens."""
        argv = _argv(
            self._netns,
            [
                # If the agent dies, the child lives no longer than this.
                *("timeout", "--kill-after=5", str(wanted.seconds + 30)),
                *("tcpdump", "-n", "-p", "-U", "--immediate-mode", "-w", "-", "-i", wanted.interface),
                *("-s", str(wanted.snap_bytes), "-c", str(wanted.packets), "-B", str(_BUFFER_KIB)),
                *("-Q", _DIRECTIONS[wanted.direction], *_user(), "--", wanted.filter),
            ],
        )
        try:
            self._process = process = subprocess.Popen(
                argv,
                env=_ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except FileNotFoundError:
            raise _missing() from None
        assert process.stdout is not None
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        end = time.monotonic() + _START_S
        while _LISTENING not in self._errors(max(0.0, end - time.monotonic())):
            if process.poll() is not None or time.monotonic() > end:
                self._errors(0.0)
                self._finish()
                raise CaptureFailed(f"the capture did not begin: {_reason(self._lines())}")

    def run(self, wanted: CaptureWanted, records: Records, stop: threading.Event) -> Ended:
        """Read what tcpdump writes."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        pipe, end = process.stdout.fileno(), time.monotonic() + wanted.seconds
        why = ""
        try:
            while not why:
                if stop.is_set():
                    why = "it was stopped"
                elif time.monotonic() >= end:
                    why = f"the limit of {wanted.seconds} seconds was reached"
                elif _has_data(pipe, min(0.2, end - time.monotonic())):
                    if not (data := os.read(pipe, _PIPE_BYTES)):
                        break
                    records.feed(data)
                    why = records.full
        finally:
            lost = self._finish()
        if not why:
            raise CaptureFailed(f"tcpdump ended unexpectedly: {_reason(self._lines())}")
        return Ended(why, lost)

    def _errors(self, patience_s: float) -> str:
        """All messages of tcpdump, after waiting for more."""
        assert self._process is not None
        assert self._process.stderr is not None
        pipe = self._process.stderr.fileno()
        while len(self._said) < _ERROR_BYTES and _has_data(pipe, patience_s):
            if not (data := os.read(pipe, _ERROR_BYTES)):
                break
            self._said += data
            patience_s = 0.0
        return self._said.decode(errors="replace")

    def _lines(self) -> list[str]:
        return self._said.decode(errors="replace").splitlines()

    def _finish(self) -> int | None:
        """End tcpdump; packets it says were lost."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        # `timeout` passes the signal on, and tcpdump says how much was lost.
        process.terminate()
        end = time.monotonic() + 3
        while process.poll() is None and time.monotonic() < end:
            # It may be in the middle of a write.
            if _has_data(process.stdout.fileno(), 0.05):
                os.read(process.stdout.fileno(), _PIPE_BYTES)
        if process.poll() is None:
            process.kill()
        process.stdout.close()
        process.wait()
        text = self._errors(0.1)
        assert process.stderr is not None
        process.stderr.close()
        counts = [int(number) for number in _DROPPED.findall(text)]
        return sum(counts) if counts else None


def _argv(netns: str, argv: list[str]) -> list[str]:
    # Not `ip netns exec`: it mounts, which the confined agent may not do.
    return ["nsenter", f"--net={NAMESPACES / netns}", "--", *argv]


def _user() -> list[str]:
    """The user it becomes: its own, which Debian's package creates."""
    try:
        pwd.getpwnam("tcpdump")
    except KeyError:
        return ["-Z", "nobody"]
    return ["-Z", "tcpdump"]


def _reason(said: list[str]) -> str:
    """libpcap's own words, without those that are no reason."""
    lines = [
        line.removeprefix("tcpdump: ").removeprefix("can't parse filter expression: ")
        for line in said
        if not line.startswith(("tcpdump: listening", "tcpdump: verbose", "tcpdump: data link type"))
    ]
    return "; ".join(filter(None, map(str.strip, lines)))[:300] or "tcpdump gave no reason"


def _missing() -> RouterUnavailable:
    return RouterUnavailable("tcpdump is not installed on this router")


def _has_data(pipe: int, within_s: float) -> bool:
    """Whether there is something to read, or its end. Unlike ``select``, of descriptors above 1,023 too."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    return bool(poll.poll(max(0.0, within_s) * 1000))
