"""A full table into VPP: the feeder from an FPM stream, and linux_nl from the kernel, one after the other.

MILLRACE_BENCH_ROUTES sets how many routes (1,000,000).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, ip_interface
from pathlib import Path

import pytest

from appliance.dataplane.vpp.feeder import FeederClient
from appliance.state.routes import RoutesQuery
from tests import fpm_stream as fpm
from tests import requirements
from tests.fib_feeder import Feeder
from tests.integration.vpp.harness import PrivateVpp, nic_mac, run
from vpp_config import Address, AfPacket, Ethernet, LcpPair, Session, VppState, plan
from vpp_config.fib import fib_counts
from vpp_config.papi_client import PapiClient

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_ROUTES = int(os.environ.get("MILLRACE_BENCH_ROUTES", "1000000"))
_LIMIT_S = 600.0


@contextmanager
def _vpp(*without: str) -> Iterator[tuple[PrivateVpp, PapiClient]]:
    with PrivateVpp(nics=1, without_plugins=without, main_heap_mib=1024, statseg_mib=512) as vpp:
        client = vpp.client()
        session = Session(client)
        state = VppState.of(
            (
                Ethernet("wan0", AfPacket("nic0"), nic_mac(0), enabled=True),
                LcpPair("wan0", "wan0", vpp.mirror_namespace),
                Address("wan0", ip_interface("192.0.2.2/30")),
                Address("wan0", ip_interface("2001:db8::2/64")),
            )
        )
        for step in plan(state, session.observe()):
            session.apply(step)
        yield vpp, client
        client.close()


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _by_the_feeder() -> float:
    with _vpp("linux_nl") as (vpp, _), Feeder(vpp.mirror_namespace, vpp.directory, vpp.api_socket) as feeder:
        ifindex = int(run("ip", "-o", "link", "show", "wan0", namespace=vpp.mirror_namespace).split(":")[0])
        zebra = feeder.zebra()
        zebra.send(fpm.frame(fpm.next_hop(7, "192.0.2.1", ifindex)))
        feeder.barrier()
        before = feeder.status()["memory_bytes"]
        stream, withdrawal = fpm.many_ipv4(_ROUTES, 7), fpm.many_ipv4_withdrawn(_ROUTES)
        cpu_s, began = _cpu_s(vpp.pid), time.monotonic()
        zebra.send(stream)
        feeder.barrier(_LIMIT_S)
        took_s, vpp_s = time.monotonic() - began, _cpu_s(vpp.pid) - cpu_s
        status = feeder.status()
        assert status["ipv4"]["in_vpp"] == _ROUTES
        memory = (status["memory_bytes"] - before) / _ROUTES
        print(f"\nfeeder: {_ROUTES} routes in {took_s:.2f} s, {_ROUTES / took_s:,.0f} a second;"
              f" {memory:.0f} bytes of the feeder a route; VPP's CPU {vpp_s:.2f} s")  # fmt: skip
        _pages(feeder)
        began = time.monotonic()
        zebra.send(fpm.frame(fpm.next_hop(7, "192.0.2.3", ifindex)))
        feeder.barrier(_LIMIT_S)
        print(f"feeder: next hop of all changed in {time.monotonic() - began:.2f} s")
        began = time.monotonic()
        zebra.send(withdrawal)
        feeder.barrier(_LIMIT_S)
        print(f"feeder: all withdrawn in {time.monotonic() - began:.2f} s")
        assert feeder.status()["vpp"]["refused"] == 0
        assert memory <= 150
    return took_s


def _pages(feeder: Feeder) -> None:
    """The cost of pages of the list, in turn, so that each kind finds an existing index."""
    client = FeederClient(feeder.status_socket)
    memory = feeder.status()["memory_bytes"]
    kinds: dict[str, tuple[RoutesQuery, Callable[[int], int]]] = {
        "first": (RoutesQuery(), lambda _: 0),
        "any": (RoutesQuery(), lambda at: at * 7919 % _ROUTES),
        "last": (RoutesQuery(), lambda _: _ROUTES - 100),
        "inside a /16": (RoutesQuery(prefix="16.9.0.0/16", within=True), lambda _: 0),
        "of a next hop": (RoutesQuery(next_hop="192.0.2.1"), lambda at: at * 7919 % _ROUTES),
        "of another protocol": (RoutesQuery(protocol="ospf"), lambda _: 0),
    }
    for name, (query, offset) in kinds.items():
        took_ms, total = [], 0
        for at in range(40):
            began = time.monotonic()
            page = client.route_page("ipv4", query, offset(at), 100)
            took_ms.append((time.monotonic() - began) * 1000)
            assert len(page.rows) == min(100, page.total)
            total = page.total
        took_ms.sort()
        print(f"feeder: a page of 100 of {total:,}, {name}: median {took_ms[20]:.1f} ms,"
              f" p95 {took_ms[37]:.1f} ms, longest {took_ms[-1]:.1f} ms")  # fmt: skip
    print(f"feeder: the index takes {(feeder.status()['memory_bytes'] - memory) / _ROUTES:.0f} bytes a route")


def _by_linux_nl(directory: Path) -> float:
    batch = directory / "routes"
    with _vpp() as (vpp, client):
        numbers = range(16 << 24, (16 << 24) + (_ROUTES << 8), 256)
        lines = (f"route add {IPv4Address(at)}/24 via 192.0.2.1" for at in numbers)
        batch.write_text("\n".join(lines))
        before = fib_counts(client, "ipv4")[0]
        cpu_s, began = _cpu_s(vpp.pid), time.monotonic()
        run("ip", "-batch", str(batch), namespace=vpp.mirror_namespace)
        kernel_s = time.monotonic() - began
        while fib_counts(client, "ipv4")[0] - before < _ROUTES:
            assert time.monotonic() - began < _LIMIT_S, fib_counts(client, "ipv4")
            time.sleep(0.1)
        took_s, vpp_s = time.monotonic() - began, _cpu_s(vpp.pid) - cpu_s
        print(f"linux_nl: {_ROUTES} routes in {took_s:.2f} s, the kernel had them after {kernel_s:.2f} s;"
              f" VPP's CPU {vpp_s:.2f} s")  # fmt: skip
    return took_s


@pytest.mark.timeout(1800)
def test_the_feeder_is_faster_than_linux_nl(tmp_path: Path) -> None:
    """In one run on one machine; the memory of a route is a hard limit, the rates are printed."""
    requirements.require_rustc()
    feeder_s = _by_the_feeder()
    linux_nl_s = _by_linux_nl(tmp_path)
    print(f"ratio: the feeder takes {feeder_s / linux_nl_s:.2f} of linux_nl's time")
    assert feeder_s < linux_nl_s
