"""A hostile configured BGP neighbor, on the LAN of a lab, and its name for itself."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lab import addressing as at
from lab.command import run
from tests.live_lab import REPOSITORY, LiveLab, json_of

ADDRESS, ASN = "10.10.0.66", 65066
HOSTNAME = b"<img src=x onerror=alert(1)>\x1b[2J\x1b]0;owned\x07\x9b31m\r\n{{ 7*7 }}"
FAREWELL = '"><script>alert(2)</script>\x1b[31m\x9bm\r\nroot@router# '.encode()
_MARKUP = ("<img src=x", "<script>alert")
_MERGE = {"Content-Type": "application/merge-patch+json"}


@contextmanager
def configured(live: LiveLab) -> Iterator[None]:
    """The neighbor in the router's document, its address on the LAN host; both are taken back."""
    revision = live.agent.status().revision
    neighbor = {
        "remote_asn": ASN,
        "description": "hostile",
        "connect_retry_s": 1,
        "ipv4_unicast": {"route_map_in": "from-upstream", "route_map_out": "to-upstream"},
    }
    lan = live.topology.namespaces.lan
    run(["ip", "-n", lan, "address", "replace", f"{ADDRESS}/24", "dev", "eth0"])
    patch = {"routing": {"bgp": {"neighbors": {ADDRESS: neighbor}}}}
    json_of(live.api.patch("/config", json=patch, headers=_MERGE))
    try:
        yield
    finally:
        json_of(live.api.post("/rollback", json={"revision": revision}))
        run(["ip", "-n", lan, "address", "delete", f"{ADDRESS}/24", "dev", "eth0"])


def attack(live: LiveLab, rng: random.Random, count: int) -> dict[str, Any]:
    """Let it send ``count`` groups of messages, call itself HOSTNAME and leave with FAREWELL."""
    words = ["--router", str(at.LAN.near_v4.ip), "--address", ADDRESS, "--asn", str(ASN)]
    words += ["--hostname", HOSTNAME.hex(), "--farewell", FAREWELL.hex()]
    words += ["--seed", str(rng.getrandbits(64)), "--count", str(count)]
    argv = ["env", "-C", str(REPOSITORY), sys.executable, "-m", "tests.soak.bgp_speaker", *words]
    told: dict[str, Any] = json.loads(
        live.topology.run(live.topology.namespaces.lan, argv, timeout_s=120 + count)
    )
    return told


def misread(what: str, text: str) -> list[str]:
    """Places where text for people or browsers carries the neighbor's words as more than text."""
    found = [f"{what} has the markup {word!r}" for word in _MARKUP if word in text]
    controls = {character for character in text if not character.isprintable() and character not in "\n\t\r"}
    return found + ([f"{what} has control characters {sorted(controls)!r}"] if controls else [])
