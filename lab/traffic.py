"""Measured traffic between two namespaces: exactly what was lost, doubled or late.

In a test::

    with Flow(
        directory, sender="mr-lan", receiver="mr-wanhost", destination="203.0.113.10", pps=10_000, seconds=30
    ) as flow:
        ...
        result = flow.result()

On a command line, ``python -m lab.traffic run|receive|send`` (see ``--help``); prints one JSON object.
The packets are made by `traffic.c`, which a C compiler builds once into the lab's directory.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from lab.command import run
from lab.errors import LabError, MissingProgram
from lab.leftovers import MARKER
from lab.namespaces import enter
from lab.precedence import TRAFFIC_NICE, set_session_nice

_SOURCE = Path(__file__).with_name("traffic.c")
_DRAIN_S = 0.5


@dataclass(frozen=True)
class FlowResult:
    """The result of a flow.

    `lost` counts packets that were sent, did not arrive, and were not dropped by the receiver's own socket
    (those are `receiver_drops`). `longest_gap_s` is the longest time between two arrivals by the kernel's
    clock, `longest_missing_run` the most packets missing in a row, `longest_stall_s` the sender's own worst
    pause (a gap of that length is not the router's).
    """

    sent: int
    received: int
    lost: int
    duplicates: int
    reordered: int
    receiver_drops: int
    send_errors: int
    longest_gap_s: float
    longest_missing_run: int
    longest_stall_s: float
    max_delay_s: float
    mean_delay_s: float


def build(directory: Path) -> Path:
    """The path of the compiled tool; it is built into `directory` unless one built from this source is
    there.
    """
    digest = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:12]
    tool = directory / f"traffic-{digest}"
    if tool.exists():
        return tool
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise MissingProgram(
            "a C compiler is needed to build lab/traffic.c (Debian packages gcc and libc6-dev)"
        )
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        made = Path(scratch) / "traffic"
        run([compiler, "-O2", "-Wall", "-o", str(made), str(_SOURCE)])
        made.replace(tool)
    return tool


class Flow:
    """One UDP flow from namespace to namespace; the receiver listens on `destination` itself.

    Entering starts it, and returns once packets are on their way. `result()` waits until it ends; `stop()`
    ends the sending early. Leaving ends both processes in any case.
    """

    def __init__(
        self,
        directory: Path,
        *,
        sender: str,
        receiver: str,
        destination: str,
        pps: float,
        seconds: float,
        port: int = 7000,
        size_bytes: int = 64,
    ) -> None:
        tool = str(build(directory))
        self._seconds = seconds
        self._receive_argv = enter(receiver, [tool, "receive", destination, str(port), "0"])
        self._send_argv = enter(
            sender, [tool, "send", destination, str(port), f"{pps:g}", f"{seconds:g}", str(size_bytes)]
        )
        self._environment = {**os.environ, MARKER: str(directory)}
        self._receiver: subprocess.Popen[str] | None = None
        self._sender: subprocess.Popen[str] | None = None
        self._result: FlowResult | None = None

    def __enter__(self) -> "Flow":
        self._receiver = _start(self._receive_argv, self._environment)
        try:
            _wait_for_line(self._receiver, "ready")
            self._sender = _start(self._send_argv, self._environment)
            _wait_for_line(self._sender, "sending")
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    @property
    def sending(self) -> bool:
        """Whether the sender is still running."""
        return self._sender is not None and self._sender.poll() is None

    def stop(self) -> FlowResult:
        """End the sending now and return the result for the packets sent so far."""
        if self._sender is not None:
            self._sender.terminate()
        return self.result()

    def result(self) -> FlowResult:
        """Wait for the sender to finish and the last packets to arrive; LabError if either side failed."""
        if self._result is not None:
            return self._result
        if self._sender is None or self._receiver is None:
            raise LabError("the flow was not started")
        sent = _finish(self._sender, self._seconds + 30)
        time.sleep(_DRAIN_S)
        self._receiver.terminate()
        received = _finish(self._receiver, 10)
        missing = int(sent["sent"]) - int(received["received"])
        self._result = FlowResult(
            sent=int(sent["sent"]),
            received=int(received["received"]),
            lost=max(0, missing - int(received["receiver_drops"])),
            duplicates=int(received["duplicates"]),
            reordered=int(received["reordered"]),
            receiver_drops=int(received["receiver_drops"]),
            send_errors=int(sent["send_errors"]),
            longest_gap_s=float(received["longest_gap_s"]),
            longest_missing_run=int(received["longest_missing_run"]),
            longest_stall_s=float(sent["longest_stall_s"]),
            max_delay_s=float(received["max_delay_s"]),
            mean_delay_s=float(received["mean_delay_s"]),
        )
        return self._result

    def _end(self) -> None:
        for process in (self._sender, self._receiver):
            if process is not None:
                if process.poll() is None:
                    process.kill()
                process.communicate()


def _start(argv: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    set_session_nice(process.pid, TRAFFIC_NICE)
    return process


def _wait_for_line(process: subprocess.Popen[str], wanted: str) -> None:
    assert process.stderr is not None
    line = process.stderr.readline()
    if line.strip() != wanted:
        raise LabError(f"the traffic tool is not {wanted}: {line}{process.stderr.read()}")


def _finish(process: subprocess.Popen[str], limit_s: float) -> dict[str, Any]:
    output, errors = process.communicate(timeout=limit_s)
    if process.returncode != 0:
        raise LabError(f"the traffic tool ended with {process.returncode}: {errors.strip()}")
    parsed: dict[str, Any] = json.loads(output)
    return parsed


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m lab.traffic", description="Measured UDP traffic.")
    parser.add_argument("--directory", type=Path, default=Path(".lab/bin"), help="where the tool is built")
    actions = parser.add_subparsers(dest="action", required=True)
    whole = actions.add_parser("run", help="send and receive, and report what was lost")
    send = actions.add_parser("send", help="send alone")
    receive = actions.add_parser("receive", help="receive alone")
    whole.add_argument("--sender", required=True, metavar="NAMESPACE")
    whole.add_argument("--receiver", required=True, metavar="NAMESPACE")
    send.add_argument("--namespace", required=True)
    receive.add_argument("--namespace", required=True)
    receive.add_argument("--bind", required=True, metavar="ADDRESS")
    receive.add_argument("--idle", type=float, default=2.0, help="seconds without a packet that end it")
    for action in (whole, send):
        action.add_argument("--to", required=True, metavar="ADDRESS")
        action.add_argument("--pps", type=float, default=1000.0)
        action.add_argument("--seconds", type=float, default=10.0)
        action.add_argument("--size", type=int, default=64, help="bytes of UDP payload")
    for action in (whole, send, receive):
        action.add_argument("--port", type=int, default=7000)
    arguments = parser.parse_args()
    if arguments.action == "run":
        with Flow(
            arguments.directory,
            sender=arguments.sender,
            receiver=arguments.receiver,
            destination=arguments.to,
            pps=arguments.pps,
            seconds=arguments.seconds,
            port=arguments.port,
            size_bytes=arguments.size,
        ) as flow:
            print(json.dumps(asdict(flow.result())))
        return
    tool = str(build(arguments.directory))
    if arguments.action == "send":
        words = ["send", arguments.to, str(arguments.port), f"{arguments.pps:g}", f"{arguments.seconds:g}"]
        words.append(str(arguments.size))
    else:
        words = ["receive", arguments.bind, str(arguments.port), f"{arguments.idle:g}"]
    command = enter(arguments.namespace, [tool, *words])
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
