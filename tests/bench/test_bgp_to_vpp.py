"""A full table from a BGP peer into VPP: by the feeder and by linux_nl, one after the other in one run.

::

    BIRD, AS 65001  192.0.2.1 ── wan0 192.0.2.2  VPP ── mirror ── bgpd, zebra

MILLRACE_BENCH_ROUTES sets how many routes (1,000,000).
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

import pytest

from frr_config import Routing, plan, render
from tests import requirements
from tests.fib_feeder import Feeder
from tests.integration.frr.harness import FrrHarness
from tests.integration.vpp.harness import PrivateVpp, nic_mac
from tests.route_feed import BIRD, BIRDC, RouteFeed, prefix
from vpp_config import Address, AfPacket, Ethernet, LcpPair, Session, VppState
from vpp_config import plan as vpp_plan
from vpp_config.fib import fib_counts
from vpp_config.papi_client import PapiClient

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_ROUTES = int(os.environ.get("MILLRACE_BENCH_ROUTES", "1000000"))
_LIMIT_S = 600.0
_NEAR, _FAR = "192.0.2.2", "192.0.2.1"
_RECEIVE_BYTES = Path("/proc/sys/net/core/rmem_max")
_WANTED_RECEIVE_BYTES = 256 << 20
"""Without it linux_nl loses messages and reads the whole table again; the appliance also sets it."""
_ROUTING: dict[str, Any] = {
    "bgp": {
        "asn": 65000,
        "router_id": "10.255.0.1",
        "ebgp_requires_policy": False,
        "neighbors": {_FAR: {"remote_asn": 65001, "connect_retry_s": 1, "ipv4_unicast": {}}},
    }
}


@dataclass(frozen=True)
class Took:
    """Seconds from the command to BIRD until VPP has them all, or none."""

    in_s: float
    out_s: float


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _large_receive_buffers() -> Iterator[None]:
    before = _RECEIVE_BYTES.read_text()
    _RECEIVE_BYTES.write_text(str(max(int(before), _WANTED_RECEIVE_BYTES)))
    try:
        yield
    finally:
        _RECEIVE_BYTES.write_text(before)


@contextmanager
def _peer(namespace: str, directory: Path) -> Iterator[Callable[..., None]]:
    """BIRD with all routes, not announced yet; gives what runs birdc."""
    routes = "\n".join(f"route {prefix(at)} blackhole;" for at in range(_ROUTES))
    config, control = directory / "bird.conf", directory / "bird.ctl"
    config.write_text(
        f"""log stderr all;
router id 10.255.0.9;
protocol device {{ }}
protocol static full_table {{ disabled; ipv4; {routes} }}
protocol bgp to_router {{
  local {_FAR} as 65001; neighbor {_NEAR} as 65000; connect delay time 1;
  ipv4 {{ import none; export all; next hop self; }};
}}
"""
    )
    argv = ["ip", "netns", "exec", namespace, BIRD, "-f", "-c", str(config), "-s", str(control)]
    with (directory / "bird.log").open("wb") as log, subprocess.Popen(argv, stdout=log, stderr=log) as bird:

        def birdc(*words: str) -> None:
            subprocess.run([BIRDC, "-s", str(control), *words], check=True, capture_output=True, timeout=120)

        yield birdc
        bird.terminate()


def _configure(vpp: PrivateVpp, client: PapiClient, frr: FrrHarness, *, feeds: bool) -> None:
    session = Session(client)
    state = VppState.of(
        (
            Ethernet("wan0", AfPacket("nic0"), nic_mac(0), enabled=True),
            LcpPair("wan0", "wan0", vpp.mirror_namespace),
            Address("wan0", ip_interface(f"{_NEAR}/30")),
        )
    )
    for step in vpp_plan(state, session.observe()):
        session.apply(step)
    of_frr = frr.client()
    observed = of_frr.observe()
    for frr_step in plan(render(Routing(**_ROUTING), observed.version, feeds=feeds), observed):
        of_frr.apply(frr_step)


def _wait(condition: Callable[[], bool], what: str) -> float:
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < _LIMIT_S, what
        time.sleep(0.2)
    return time.monotonic() - began


@contextmanager
def _router(*, feeds: bool) -> Iterator[tuple[PrivateVpp, FrrHarness, Feeder | None]]:
    without = ("linux_nl",) if feeds else ()
    with PrivateVpp(nics=1, without_plugins=without, main_heap_mib=2048, statseg_mib=512) as vpp:
        netns = vpp.mirror_namespace
        with FrrHarness(netns, netns, feeds=feeds) as frr:
            if not feeds:
                yield vpp, frr, None
                return
            with Feeder(netns, vpp.directory, vpp.api_socket) as feeder:
                yield vpp, frr, feeder


def _measure(directory: Path, *, feeds: bool) -> Took:
    directory.mkdir()
    with _router(feeds=feeds) as (vpp, frr, feeder), _peer(vpp.far(0), directory) as birdc:
        subprocess.run(
            ["ip", "-n", vpp.far(0), "address", "add", f"{_FAR}/30", "dev", "peer0"], check=True, timeout=10
        )
        client = vpp.client()
        _configure(vpp, client, frr, feeds=feeds)
        state = frr.client()
        _wait(lambda: state.bgp_neighbors().get(_FAR, {}).get("bgpState") == "Established", "the BGP session")
        if feeder is not None:
            # zebra connects three seconds after it is told where.
            _wait(lambda: not feeder.status()["vpp"]["sweep_due"], "zebra connected to the feeder")
        before = fib_counts(client, "ipv4")[0]
        pids = {"VPP": vpp.pid, "zebra": frr.pid("zebra"), "bgpd": frr.pid("bgpd")}
        cpu_s = {name: _cpu_s(pid) for name, pid in pids.items()}
        birdc("enable", "full_table")
        in_s = _wait(lambda: fib_counts(client, "ipv4")[0] - before >= _ROUTES, "all routes in VPP")
        spent = ", ".join(f"{name} {_cpu_s(pid) - cpu_s[name]:.1f} s" for name, pid in pids.items())
        birdc("disable", "full_table")
        out_s = _wait(lambda: fib_counts(client, "ipv4")[0] <= before, "no route in VPP")
        client.close()
        if feeder is not None:
            assert feeder.status()["vpp"]["refusals"] == {}
    print(f"\n{'feeder' if feeds else 'linux_nl'}: {_ROUTES} routes from the peer in VPP after {in_s:.1f} s"
          f" (CPU: {spent}), withdrawn after {out_s:.1f} s")  # fmt: skip
    return Took(in_s, out_s)


@pytest.mark.timeout(2400)
def test_a_full_table_from_a_peer(tmp_path: Path) -> None:
    """In one run on one machine. Ratios are printed, not judged: both wait for zebra, which writes to the
    kernel before it sends routes to either.
    """
    requirements.require_root_netns()
    requirements.require_rustc()
    if not RouteFeed.possible():
        pytest.skip("BIRD is not installed (Debian package bird2)")
    with _large_receive_buffers():
        feeder = _measure(tmp_path / "feeder", feeds=True)
        linux_nl = _measure(tmp_path / "linux_nl", feeds=False)
    print(f"ratio: the feeder takes {feeder.in_s / linux_nl.in_s:.2f} of linux_nl's time to give,"
          f" {feeder.out_s / linux_nl.out_s:.2f} to withdraw")  # fmt: skip
