"""BIRD on the hosts next to the router: a BGP neighbor on the left, an OSPF neighbor on the right."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

from lab import bird_peers, namespaces
from tests.image.router import Router
from tests.live_lab import json_of
from tests.route_feed import prefix

ROUTER_ASN, NEIGHBOR_ASN = 65000, 65001
NEIGHBORS = ("10.77.1.2", "2001:db8:77:1::2")
OSPF_PREFIXES = tuple(f"100.65.{number}.0/24" for number in range(50))
_HELLO_S, _DEAD_S = 5, 20
ROUNDING_S = 2

BGP: dict[str, Any] = {
    "asn": ROUTER_ASN,
    "router_id": "10.255.0.1",
    "ebgp_requires_policy": False,
    "neighbors": {
        NEIGHBORS[0]: {"remote_asn": NEIGHBOR_ASN, "connect_retry_s": 1, "ipv4_unicast": {}},
        NEIGHBORS[1]: {"remote_asn": NEIGHBOR_ASN, "connect_retry_s": 1, "ipv6_unicast": {}},
    },
}
"""What the router has to be told for the left one."""

OSPF: dict[str, Any] = {
    "router_id": "10.255.0.1",
    "interfaces": {
        "right0": {
            "area": "0.0.0.0",
            "network_type": "point-to-point",
            "hello_interval_s": _HELLO_S,
            "dead_interval_s": _DEAD_S,
        }
    },
}
"""And for the right one."""


def sessions(router: Router, **query: Any) -> dict[str, int]:
    """When the session with each BGP neighbor came up, in seconds since the epoch."""
    neighbors = json_of(router.api.get("/state/bgp", params=query))["neighbors"]
    return {address: one["established_epoch_s"] for address, one in neighbors.items()}


def are_the_same(before: dict[str, int], now: dict[str, int]) -> bool:
    """Whether no session went down: FRR computes the time from now each time, and rounds."""
    return before.keys() == now.keys() and all(now[one] - before[one] <= ROUNDING_S for one in now)


def bgp_neighbor(count: int) -> str:
    """BIRD's configuration of the left one, which announces this many IPv4 prefixes."""
    routes = "\n".join(f"  route {prefix(number)} blackhole;" for number in range(count))
    sessions = "\n".join(
        f"protocol bgp to_router_{family} {{ local {own} as {NEIGHBOR_ASN};"
        f" neighbor {router} as {ROUTER_ASN};"
        " connect delay time 1; connect retry time 2; error wait time 1, 4;"
        f" {family} {{ import none; export all; next hop self; }}; }}"
        for family, own, router in (
            ("ipv4", NEIGHBORS[0], "10.77.1.1"),
            ("ipv6", NEIGHBORS[1], "2001:db8:77:1::1"),
        )
    )
    return f"""log stderr all;
router id {NEIGHBORS[0]};
protocol device {{ }}
protocol static many {{
  ipv4;
{routes}
}}
{sessions}
"""


def ospf_neighbor() -> str:
    """BIRD's configuration of the right one, with OSPF_PREFIXES behind it."""
    stubs = "\n".join(f"    stubnet {one};" for one in OSPF_PREFIXES)
    return f"""log stderr all;
router id 10.77.2.2;
protocol device {{ }}
protocol ospf v2 core {{
  ipv4 {{ import none; export none; }};
  area 0 {{
    interface "port0" {{ type ptp; hello {_HELLO_S}; dead {_DEAD_S}; }};
{stubs}
  }};
}}
"""


class Bird:
    """BIRD with this configuration in a namespace, while the block lasts."""

    def __init__(self, namespace: str, directory: Path, config: str) -> None:
        self._namespace = namespace
        self._files = directory / f"bird-{namespace}"
        self._config = config
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Bird:
        path, control = self._files.with_suffix(".conf"), self._files.with_suffix(".ctl")
        path.write_text(self._config)
        argv = namespaces.enter(self._namespace, bird_peers.argv(path, control))
        with self._files.with_suffix(".log").open("ab") as log:
            self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(timeout=60)
