"""A DHCP server and clients in namespaces of a test: dnsmasq, and BusyBox's udhcpc."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.integration.linux.conftest import run

_READY_S = 20.0


@contextmanager
def serving(namespace: str, directory: Path, *networks: str) -> Iterator[Path]:
    """A server that has addresses .50 to .99 of each /24 network; yields its log."""
    ranges = [f"--dhcp-range={one}.50,{one}.99,255.255.255.0,2m" for one in networks]
    log = directory / "dnsmasq"
    command = [
        *("ip", "netns", "exec", namespace, "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null"),
        *("--port=0", "--no-ping", "--log-dhcp", "--log-facility=-", "--user=root", "--pid-file"),
        *("--dhcp-authoritative", f"--dhcp-leasefile={log}.leases", *ranges),
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        _until(process, lambda: log.read_text().count("IP range") == len(networks), "dnsmasq does not start")
        yield log
    finally:
        process.terminate()
        process.wait(timeout=10)


def lease(namespace: str, device: str, attempts: int = 4) -> str | None:
    """The address that a client gets; None where no server answers. The client does not take it."""
    command = [
        *("busybox", "udhcpc", "-i", device, "-f", "-n", "-q", "-s", "/bin/true"),
        *("-t", str(attempts), "-T", "1"),
    ]
    done = run(namespace, *command, check=False)
    found = re.search(r"lease of (\S+) obtained", done.stdout + done.stderr)
    assert (done.returncode == 0) is (found is not None), done.stdout + done.stderr
    return None if found is None else found[1]


@contextmanager
def heard_by(namespace: str, packets: str) -> Iterator[Callable[[], list[str]]]:
    """Packets that match a filter and come to any interface of a namespace; to be asked for afterwards."""
    command = ["ip", "netns", "exec", namespace, "tcpdump", "-nl", "--immediate-mode", "-i", "any"]
    process = subprocess.Popen([*command, packets], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = ""
    while "listening on" not in said:
        said = process.stderr.readline()
        assert said, "tcpdump does not start"
    heard: list[str] = []
    try:
        yield lambda: heard
    finally:
        process.terminate()
        heard += filter(None, process.communicate(timeout=10)[0].splitlines())


def _until(process: subprocess.Popen[bytes], is_so: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + _READY_S
    while not is_so():
        assert process.poll() is None, otherwise
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.05)
