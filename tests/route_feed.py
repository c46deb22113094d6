"""A BGP neighbor with as many routes as a test wants: BIRD, in a namespace of its own::

FRR 10.9.0.1/24 --- 10.9.0.2/24 BIRD, AS 65001: /24s from 16.0.0.0 on, and a few that come and go
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.integration.frr.harness import FrrHarness, ip

BIRD, BIRDC = "/usr/sbin/bird", "/usr/sbin/birdc"
NEAR, FAR = "10.9.0.1", "10.9.0.2"
MOVING = 100
"""Routes that ``announce`` and ``withdraw`` move."""
LAST_MOVING = f"100.64.{MOVING - 1}.0/24"
STATICS = 12

ROUTING: dict[str, Any] = {
    "static": {f"198.51.{at}.0/24": {"next_hops": [{"address": FAR}]} for at in range(STATICS)},
    "bgp": {
        "asn": 65000,
        "router_id": "10.255.0.1",
        "ebgp_requires_policy": False,
        "neighbors": {FAR: {"remote_asn": 65001, "connect_retry_s": 1, "ipv4_unicast": {}}},
    },
}
"""What the router has to run to take the routes."""


def prefix(at: int) -> str:
    """One of the routes that stay."""
    return f"{16 + (at >> 16)}.{at >> 8 & 255}.{at & 255}.0/24"


class RouteFeed:
    """``count`` routes for a router in ``near``, which gets the interface d0. Enter it to start."""

    def __init__(self, near: FrrHarness, name: str, directory: Path, count: int) -> None:
        self._near, self._name, self._directory, self._count = near, name, directory, count
        self._process: subprocess.Popen[bytes] | None = None

    @staticmethod
    def possible() -> bool:
        """Whether BIRD is installed."""
        return shutil.which(BIRD) is not None

    def __enter__(self) -> RouteFeed:
        ip("netns", "add", self._name)
        self._near.add_link("d0", f"{NEAR}/24", peer=(self._name, "d0"))
        ip("-n", self._name, "address", "add", f"{FAR}/24", "dev", "d0")
        config = self._directory / "bird.conf"
        config.write_text(self._config())
        argv = ["ip", "netns", "exec", self._name, BIRD, "-f", "-c", str(config), "-s", str(self._control)]
        log = self._directory / "bird.log"
        with log.open("wb") as output:
            self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(30)
        ip("netns", "del", self._name, check=False)

    def announce(self) -> None:
        """The routes that move come."""
        self._birdc("enable", "moving")

    def withdraw(self) -> None:
        """They go."""
        self._birdc("disable", "moving")

    @property
    def _control(self) -> Path:
        return self._directory / "bird.ctl"

    def _birdc(self, *words: str) -> None:
        argv = [BIRDC, "-s", str(self._control), *words]
        subprocess.run(argv, check=True, capture_output=True, timeout=60)

    def _config(self) -> str:
        staying = "\n".join(f"route {prefix(at)} blackhole;" for at in range(self._count))
        moving = "\n".join(f"route 100.64.{at}.0/24 blackhole;" for at in range(MOVING))
        return f"""log stderr all;
router id 10.255.0.9;
protocol device {{ }}
protocol static staying {{ ipv4; {staying} }}
protocol static moving {{ disabled; ipv4; {moving} }}
protocol bgp to_router {{
  local as 65001;
  neighbor {NEAR} as 65000;
  source address {FAR};
  connect delay time 1;
  ipv4 {{ import all; export all; next hop self; }};
}}
"""
