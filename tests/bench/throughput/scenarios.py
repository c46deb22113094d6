"""The scenarios: a document for Millrace, the same by hand for the others, and the traffic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any

from appliance.bench import traffic
from appliance.features.acl import bench as acl
from appliance.features.nat import bench as nat
from lab.memif_traffic import Stream
from tests.bench.throughput.routers import MACS, Bare, Kernel, Millrace, VppRouter
from tests.integration.vpp.harness import run

_MACS = tuple(MACS[side] for side in ("left", "right"))


@dataclass(frozen=True)
class Scenario:
    """One configuration and its traffic. ``bare`` and ``kernel`` configure by hand what ``document`` says."""

    id: str
    group: str
    title: str
    streams: traffic.Streams
    document: dict[str, Any] = field(default_factory=dict)
    bare: Callable[[Bare], None] | None = None
    kernel: Callable[[Kernel], None] | None = None
    millrace: Callable[[Millrace], None] | None = None
    """The part that no document contains: routes of a peer."""
    millrace_undo: Callable[[Millrace], None] | None = None
    with_kernel: bool = True
    warm_s: float = 0.0
    size: int = 0
    """Routes, rules or flows."""


def _to_left_6(routes: int) -> traffic.Streams:
    six = Stream("v6", MACS["right"], "2001:4800::1", 1, "2001:1600::1", routes, routes)
    return None, six


def _routes(router: VppRouter, count: int, family: str, word: str = "add") -> None:
    first, hop = ("16.0.0.0/32", "100.0.0.2") if family == "v4" else ("2001:1600::/64", "2001:db8:100::2")
    with router.running():
        said = router.cli(f"ip route {word} {first} count {count} via {hop} {router.interface('left')}")
    if "error" in said or "unknown" in said:
        raise RuntimeError(f"{router.name} takes no routes: {said}")


def _kernel_routes(kernel: Kernel, count: int, family: str) -> None:
    lines = []
    for number in range(count):
        if family == "v4":
            lines.append(f"route add {IPv4Address('16.0.0.0') + number}/32 via 100.0.0.2")
        else:
            lines.append(f"route add 2001:1600:{number >> 16:x}:{number & 0xFFFF:x}::/64 via 2001:db8:100::2")
    batch = kernel.folder / "routes"
    batch.write_text("\n".join(lines) + "\n")
    run("ip", "-force", "-batch", str(batch), namespace=kernel.router)


def _fib(count: int, family: str = "v4", *, with_kernel: bool = True) -> Scenario:
    return Scenario(
        f"fib-{family}-{count}",
        f"fib {family}",
        f"{count:,} {'IPv4 /32' if family == 'v4' else 'IPv6 /64'} routes, each of them hit",
        traffic.to_left(_MACS, count) if family == "v4" else _to_left_6(count),
        bare=lambda bare: _routes(bare, count, family),
        millrace=lambda millrace: _routes(millrace, count, family),
        millrace_undo=lambda millrace: _routes(millrace, count, family, "del"),
        kernel=lambda kernel: _kernel_routes(kernel, count, family),
        with_kernel=with_kernel,
        size=count,
    )


def _acl(count: int) -> Scenario:
    if count == 0:
        return Scenario(
            "acl-0", "acl", "no access list", traffic.both(_MACS, hosts=traffic.HOSTS), with_kernel=False
        )

    def rules(side: str) -> dict[str, Any]:
        end = "source" if side == "left" else "destination"
        return {
            str(number): {"action": "permit", "protocol": "udp", end: host}
            for number, host in enumerate(acl.ruled_hosts(count), 1)
        }

    def bare(router: Bare) -> None:
        with router.running():
            client = router.vpp.client()
            for number, side in enumerate(("left", "right")):
                made = acl.access_list(count, number)
                index = client.call(
                    "acl_add_replace", acl_index=0xFFFFFFFF, tag=side, count=len(made), r=made
                ).acl_index
                client.call(
                    "acl_interface_set_acl_list",
                    sw_if_index=1 if side == "left" else 2,
                    count=1,
                    n_input=1,
                    acls=[index],
                )
            client.close()

    return Scenario(
        f"acl-{count}",
        "acl",
        f"{count:,} rules on each interface, for received packets",
        traffic.both(_MACS, hosts=min(count, traffic.HOSTS)),
        document={
            "acls": {f"in-{side}": {"rules": rules(side)} for side in ("left", "right")},
            "interfaces": {side: {"acl_in": [f"in-{side}"]} for side in ("left", "right")},
        },
        bare=bare,
        with_kernel=False,
        size=count,
    )


def _nat(flows: int) -> Scenario:
    def bare(router: Bare) -> None:
        with router.running():
            router.cli(f"nat44 plugin enable sessions {nat.sessions(flows)}")
            router.cli(f"set interface nat44 in {router.interface('left')} out {router.interface('right')}")
            router.cli(f"nat44 add interface address {router.interface('right')}")

    hosts = nat.inside_hosts(flows)
    return Scenario(
        f"nat-{flows}",
        "nat",
        f"{flows:,} flows of {hosts:,} inside hosts behind one address",
        nat.streams(_MACS, flows),
        document={
            "nat": {
                "inside": ["left"], "outside": ["right"], "masquerade": ["right"],
                "sessions_per_worker": nat.sessions(flows),
            }
        },
        bare=bare,
        with_kernel=False,
        warm_s=0.6,
        size=flows,
    )  # fmt: skip


SCENARIOS = (
    Scenario("fwd-v4", "fwd", "IPv4, one flow each way", traffic.both(_MACS)),
    Scenario(
        "fwd-v6", "fwd", "IPv6, one flow each way",
        (
            Stream("v6", MACS["left"], "2001:1600::1", 1, "2001:4800::1", 1, 1),
            Stream("v6", MACS["right"], "2001:4800::1", 1, "2001:1600::1", 1, 1),
        ),
    ),
    Scenario(
        "imix", "imix", "IMIX: 64, 570 and 1,518 bytes as 7:4:1",
        traffic.both(_MACS, traffic.IMIX, traffic.HOSTS),
    ),
    _fib(1), _fib(10_000), _fib(262_144), _fib(1_000_000, with_kernel=False),
    _fib(20_000, "v6"), _fib(255_000, "v6", with_kernel=False),
    _acl(0), _acl(1), _acl(50), _acl(1024), _acl(10_000),
    _nat(1000), _nat(10_000), _nat(100_000),
)  # fmt: skip
