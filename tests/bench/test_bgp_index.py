"""A full table in the index of BGP routes: the time to read it, the memory of a route, the time of a search.

MILLRACE_BENCH_ROUTES sets how many routes (1,000,000). One bench simulates bgpd, with as many distinct sets
of attributes as a full table has; the other uses a real one, with routes of a BIRD that are all alike.
"""

from __future__ import annotations

import os
import random
import struct
import threading
import time
from pathlib import Path

import pytest

from frr_config import FrrClient, FrrUnavailable
from tests import bmp_stream as bmp
from tests import requirements
from tests.bgp_index_process import BgpIndex
from tests.integration.frr.harness import FrrHarness
from tests.route_feed import FAR, RouteFeed
from tests.soak import bgp_bytes as bgp

_ROUTES = int(os.environ.get("MILLRACE_BENCH_ROUTES", "1000000"))
_SETS = max(1, _ROUTES * 15 // 100)
"""Distinct paths and communities: roughly as many as a full table of one neighbor has."""
_LIMIT_S = 900.0
_ASKED = 40
_NEIGHBOR = bmp.Peer("192.0.2.1", 65001)
_SEARCHES = (
    "",
    "offset=900000",
    "as=174",
    "origin_as=399999",
    "first_as=65001 path_length=3-5",
    "path=65001_174",
    "community=65001:7",
    "large_community=65001:1:2",
    "next_hop=192.0.2.1",
    "neighbor=192.0.2.1 limit=1000",
    "within=16.1.0.0/16",
    "covering=16.1.2.3",
)
_CONFIGURATION = f"""router bgp 65000
 bgp router-id 10.255.0.1
 no bgp ebgp-requires-policy
 neighbor {FAR} remote-as 65001
 neighbor {FAR} timers connect 1
 bmp targets millrace
  bmp monitor ipv4 unicast post-policy
  bmp monitor ipv6 unicast post-policy
  bmp listener 127.0.0.1 port 2630
"""


def _sets(rng: random.Random) -> list[bytes]:
    """Attributes of paths of 2 to 7 ASes, with up to 6 communities."""
    made = []
    for _ in range(_SETS):
        path = [65000, 65001, *(rng.randrange(1, 400_000) for _ in range(rng.randint(1, 6)))]
        marks = ((65001, rng.randrange(2000)) for _ in range(rng.randint(0, 6)))
        made.append(
            bmp.attribute(1, b"\0") + bmp.as_path(path) + bmp.next_hop("192.0.2.1") + bmp.communities(*marks)
        )
    return made


def _stream() -> bytes:
    """The table as bgpd sends it: a message for each /24 from 16.0.0.0 on."""
    rng = random.Random(1)
    sets, header = _sets(rng), _NEIGHBOR.header(at_s=int(time.time()))
    messages = []
    for at in range(_ROUTES):
        nlri = b"\x18" + ((16 << 16) + at).to_bytes(3)
        update = bgp.update(b"", sets[rng.randrange(_SETS)], nlri)
        messages.append(struct.pack("!BIB", 3, 6 + len(header) + len(update), 0) + header + update)
    return b"".join(messages)


def _resident_bytes(pid: int) -> int:
    fields = Path(f"/proc/{pid}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _worked_ms(pid: int) -> float:
    """CPU time of its only thread, which other work on the machine does not lengthen."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e6


def _ask_often(index: BgpIndex) -> None:
    for words in _SEARCHES:
        took_ms, matching, worked_ms = [], 0, _worked_ms(index.pid)
        for _ in range(_ASKED):
            began = time.monotonic()
            found = index.search(f"ipv4 {words}")
            took_ms.append((time.monotonic() - began) * 1000)
            matching = found["matching"]
        took_ms.sort()
        worked_ms = (_worked_ms(index.pid) - worked_ms) / _ASKED
        print(
            f"search ipv4 {words}: {matching:,} match; {worked_ms:.1f} ms of CPU,"
            f" median {took_ms[_ASKED // 2]:.1f} ms, p95 {took_ms[_ASKED * 95 // 100]:.1f} ms,"
            f" longest {took_ms[-1]:.1f} ms"
        )


@pytest.mark.timeout(1800)
def test_a_full_table_is_searched(tmp_path: Path) -> None:
    """Bytes of a route are a hard limit; times are printed."""
    requirements.require_rustc()
    stream = _stream()
    with bmp.Listener() as bgpd, BgpIndex(tmp_path, f"127.0.0.1:{bgpd.port}") as index:
        before = _resident_bytes(index.pid)
        index.search("ipv4 wait=0")
        bgpd.accept()
        bgpd.send(bmp.initiation(), bmp.peer_up(_NEIGHBOR))
        began = time.monotonic()
        sending = threading.Thread(target=bgpd.send, args=(stream,))
        sending.start()
        sending.join()
        bgpd.send(bmp.end_of_rib(_NEIGHBOR, 4), bmp.end_of_rib(_NEIGHBOR, 6))
        status = index.wait_for("ready", _LIMIT_S)
        took_s = time.monotonic() - began
        assert status["ipv4"] == {"routes": _ROUTES, "paths": _ROUTES}
        resident = (_resident_bytes(index.pid) - before) / _ROUTES
        print(
            f"\n{_ROUTES:,} routes with {status['attributes']:,} sets of attributes in {took_s:.2f} s;"
            f" {status['memory_bytes'] / _ROUTES:.1f} bytes a route by its own count, {resident:.1f} resident"
        )
        _ask_often(index)
        began = time.monotonic()
        bgpd.send(bmp.peer_down(_NEIGHBOR))
        index.wait_paths("ipv4", 0)
        print(f"session down: all gone in {time.monotonic() - began:.2f} s")
        index.ask("release")
        print(f"released: {(_resident_bytes(index.pid) - before) / 1024:.0f} KiB more resident than at first")
        assert resident <= 60


@pytest.mark.root
@pytest.mark.timeout(3600)
def test_a_full_table_is_read_from_a_real_bgpd(tmp_path: Path) -> None:
    """How long bgpd takes to send its table, and how much CPU time."""
    requirements.require_root_netns()
    requirements.require_rustc()
    if not RouteFeed.possible():
        pytest.skip("BIRD is not installed (Debian package bird2)")
    name, far = f"xi-{os.getpid() % 100000}", f"xf-{os.getpid() % 100000}"
    with (
        FrrHarness(name, name, indexed=True) as frr,
        RouteFeed(frr, far, tmp_path, _ROUTES),
        BgpIndex(tmp_path, netns=name) as index,
    ):
        frr.vtysh_file(_CONFIGURATION)
        client = frr.client()
        began = time.monotonic()
        while _received(client) < _ROUTES:
            assert time.monotonic() - began < _LIMIT_S, _received(client)
            time.sleep(0.5)
        print(f"\nbgpd has {_ROUTES:,} routes after {time.monotonic() - began:.0f} s")
        pid = frr.pid("bgpd")
        cpu_s, began = _cpu_s(pid), time.monotonic()
        index.search("ipv4 wait=0")
        status = index.wait_for("ready", _LIMIT_S)
        took_s = time.monotonic() - began
        print(f"read from bgpd in {took_s:.1f} s, of which it worked {_cpu_s(pid) - cpu_s:.1f} s")
        assert status["ipv4"]["paths"] == _ROUTES


def _received(client: FrrClient) -> int:
    try:
        return int(client.bgp_neighbor(FAR)["addressFamilyInfo"]["ipv4Unicast"]["acceptedPrefixCounter"])
    except (FrrUnavailable, KeyError):
        return 0
