"""Three namespaces of one's own, the one in the middle driven by the linux data plane::

left 10.77.1.2/24 --- nic-l [router] nic-r --- 10.77.2.2/24 right
     2001:db8:77:1::2/64                     2001:db8:77:2::2/64
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from appliance.compile import compile_document
from appliance.config.load import parse_document
from appliance.config.validate import check
from appliance.dataplane.linux.backend import LinuxDataplane
from appliance.dataplane.object_step import ObjectStep
from appliance.engine.backend import PHASES

DOCUMENT: dict[str, Any] = {
    "interfaces": {
        "left0": {
            "type": "ethernet",
            "match": {"device": "nic-l"},
            "addresses": ["10.77.1.1/24", "2001:db8:77:1::1/64"],
        },
        "right0": {
            "type": "ethernet",
            "match": {"device": "nic-r"},
            "addresses": ["10.77.2.1/24", "2001:db8:77:2::1/64"],
        },
    }
}


@dataclass(frozen=True)
class Router:
    """The data plane and its neighbours' namespaces."""

    backend: LinuxDataplane
    middle: str
    left: str
    right: str

    def commit(self, document: dict[str, Any]) -> list[ObjectStep]:
        """The engine's work without its safety net; the second plan has to be empty."""
        steps = self.steps(document)
        for step in steps:
            self.backend.apply(step)
        assert self.steps(document) == []
        return steps

    def steps(self, document: dict[str, Any]) -> list[ObjectStep]:
        """The plan from now to the document, in the engine's order."""
        config = parse_document(document)
        assert check(config, self.backend.capabilities()) == []
        desired = compile_document(config, "linux", self.backend.compile_context())["linux"]
        steps = self.backend.plan(desired, self.backend.observe())
        return sorted(steps, key=lambda step: PHASES.index(step.phase))

    def ping(self, source: str, destination: str, count: int = 2) -> bool:
        """Whether all of a few pings from a namespace are answered."""
        command = ["ping", "-q", "-n", "-i", "0.05", "-W", "3", "-c", str(count), destination]
        return run(source, *command, check=False).returncode == 0

    def hits(self, name: str) -> dict[int, int]:
        """Packets by rule sequence."""
        known = next(entry for entry in self.backend.acl_state() if entry.name == name)
        return {rule.sequence: rule.packets for rule in known.rules}


def run(namespace: str, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """A program inside a namespace."""
    return subprocess.run(
        ["ip", "netns", "exec", namespace, *command], check=check, capture_output=True, text=True, timeout=30
    )


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True, timeout=30)


@pytest.fixture
def router() -> Iterator[Router]:
    names = [f"cfg{os.getpid() % 100000}{side}" for side in ("m", "l", "r")]
    middle, left, right = names
    for name in names:
        _ip("netns", "add", name)
    backend = LinuxDataplane(middle, middle)
    try:
        for nic, side, number in (("nic-l", left, 1), ("nic-r", right, 2)):
            _ip("link", "add", nic, "netns", middle, "type", "veth", "peer", "name", "eth0", "netns", side)
            _ip("-n", side, "link", "set", "lo", "up")
            _ip("-n", side, "link", "set", "eth0", "up")
            _ip("-n", side, "addr", "add", f"10.77.{number}.2/24", "dev", "eth0")
            _ip("-n", side, "addr", "add", f"2001:db8:77:{number}::2/64", "dev", "eth0", "nodad")
            _ip("-n", side, "route", "add", "default", "via", f"10.77.{number}.1")
            _ip("-n", side, "-6", "route", "add", "default", "via", f"2001:db8:77:{number}::1")
        yield Router(backend, middle, left, right)
    finally:
        backend.close()
        for name in names:
            _ip("netns", "del", name)
