"""A neighbor that sends what no honest one would: BGP, OSPF and IP, from the LAN of a running lab.

::

    lan host (hostile) ── lan0 [router] wan0 ── BGP neighbor ── wan host
                                  core0 ── OSPF neighbor ── core host ──▶ wan host, all the while

Everything comes from MILLRACE_SEED; MILLRACE_ROUNDS is how many hundreds of messages are sent (default 5).
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import pytest

from appliance.state.ospf import OSPF
from lab import addressing as at
from lab import bird_peers, frr_daemons
from lab.leftovers import MARKER, end_processes
from lab.namespaces import enter
from lab.traffic import Flow
from tests.live_lab import REPOSITORY, LiveLab, json_of, live_lab, wait_until
from tests.requirements import require_root_netns, require_vpp
from tests.soak import hostile_neighbor, ip_frames, ospf_bytes
from tests.soak.bystanders import Bystanders
from tests.soak.options import options

pytestmark = [pytest.mark.soak, pytest.mark.root, pytest.mark.timeout(0)]

_HUNDREDS = 5
_PPS = 500
_SAVED_LSAS = 2000
_MERGE = {"Content-Type": "application/merge-patch+json"}
_LAN_V4 = (str(at.LAN.far_v4.ip), str(at.LAN.near_v4.ip), str(at.WAN_HOST.far_v4.ip))
_LAN_V6 = (str(at.LAN.far_v6.ip), str(at.LAN.near_v6.ip), str(at.WAN_HOST.far_v6.ip))


@pytest.fixture(scope="module", params=options().dataplanes)
def live(request: pytest.FixtureRequest) -> Iterator[LiveLab]:
    """A lab of its own: what is sent here would disturb others."""
    dataplane = cast(str, request.param)
    require_root_netns()
    if dataplane == "vpp":
        require_vpp()
    print(f"\nMILLRACE_SEED={options().seed} on {dataplane}", flush=True)
    with live_lab(f"h{dataplane[0]}", dataplane) as lab:
        yield lab


def _count() -> int:
    return 100 * len(options(_HUNDREDS).rounds)


@contextmanager
def _nobody_else_notices(live: LiveLab) -> Iterator[None]:
    """Packets between the other links arrive, and processes and sessions stay, while it is done and after."""
    names, before = live.topology.namespaces, Bystanders.now(live)
    with Flow(
        live.directory / "bin",
        sender=names.core_host,
        receiver=names.wan_host,
        destination=str(at.WAN_HOST.far_v4.ip),
        pps=_PPS,
        seconds=3600,
        port=7120,
    ) as flow:
        yield
        result = flow.stop()
    assert before.harmed() == []
    assert (result.lost, result.duplicates) == (0, 0), result


def _send(live: LiveLab, frames: list[bytes]) -> None:
    argv = [sys.executable, "-m", "tests.soak.raw_sender", "eth0"]
    subprocess.run(
        enter(live.topology.namespaces.lan, argv),
        input="\n".join(frame.hex() for frame in frames),
        cwd=REPOSITORY,
        text=True,
        check=True,
        capture_output=True,
        timeout=600,
    )


def _lan_mac(live: LiveLab) -> bytes:
    words = ["cat", "/sys/class/net/eth0/address"]
    return bytes.fromhex(live.topology.run(live.topology.namespaces.lan, words).strip().replace(":", ""))


def test_bgp(live: LiveLab) -> None:
    with hostile_neighbor.configured(live), _nobody_else_notices(live):
        told = hostile_neighbor.attack(live, random.Random(f"{options().seed}/bgp"), _count())
        print(f"BGP: {told}", flush=True)
    assert live.agent.status().drift == []


@contextmanager
def _ospf_neighbor(live: LiveLab) -> Iterator[None]:
    """A router on the LAN that is adjacent, and floods some thousand external routes by itself."""
    revision = live.agent.status().revision
    interface = {
        "area": "0.0.0.0",
        "passive": False,
        "network_type": "point-to-point",
        "hello_interval_s": at.OSPF_HELLO_S,
        "dead_interval_s": at.OSPF_DEAD_S,
    }
    patch = {"routing": {"ospf": {"interfaces": {"lan0": interface}}}}
    json_of(live.api.patch("/config", json=patch, headers=_MERGE))
    routes = "\n".join(
        f"  route 100.{64 + number // 256}.{number % 256}.0/24 blackhole;" for number in range(_SAVED_LSAS)
    )
    timers = f"hello {at.OSPF_HELLO_S}; dead {at.OSPF_DEAD_S};"
    config = live.directory / "hostile-ospf.conf"
    config.write_text(
        f"log stderr all;\nrouter id {_LAN_V4[0]};\nprotocol device {{ }}\n"
        f"protocol static flood {{ ipv4;\n{routes}\n}}\n"
        "protocol ospf v2 hostile { ipv4 { import none; export all; };\n"
        f'  area 0 {{ interface "eth0" {{ type ptp; {timers} }}; }};\n}}\n'
    )
    argv = enter(
        live.topology.namespaces.lan, bird_peers.argv(config, live.directory / "run" / "hostile-ospf.ctl")
    )
    with (live.directory / "log" / "hostile-ospf.log").open("w") as log:
        bird = subprocess.Popen(argv, stdout=log, stderr=log, env={MARKER: str(live.directory)})
        try:
            wait_until(lambda: _full(live), timeout_s=90, what="the hostile OSPF neighbor is adjacent")
            yield
        finally:
            end_processes([bird.pid])
            bird.wait()
            json_of(live.api.post("/rollback", json={"revision": revision}))


def _full(live: LiveLab) -> bool:
    shown = frr_daemons.show(live.topology.namespaces.router, "show ip ospf neighbor").get("neighbors", {})
    entries = shown.get(_LAN_V4[0], [])
    return any(str(entry.get("nbrState", entry.get("state", ""))).startswith("Full") for entry in entries)


def test_ospf(live: LiveLab) -> None:
    hostile = ospf_bytes.Hostile(random.Random(f"{options().seed}/ospf"), _LAN_V4[0], at.ROUTER_ID)
    source = _lan_mac(live)
    sent: Counter[str] = Counter()
    frames = []
    for _ in range(_count()):
        kind, packet = hostile.packet()
        sent[kind] += 1
        frames.append(ospf_bytes.frame(source, _LAN_V4[0], packet))
    with _nobody_else_notices(live):
        with _ospf_neighbor(live):
            _send(live, frames)
            live.agent.state(OSPF)
        print(f"OSPF: {dict(sent)}", flush=True)
        wait_until(
            lambda: "100.64.0.0/24" not in _ospf_routes(live), timeout_s=120, what="the flood is forgotten"
        )


def _ospf_routes(live: LiveLab) -> str:
    return frr_daemons.vtysh(live.topology.namespaces.router, "show ip route ospf")


def test_ip(live: LiveLab) -> None:
    router = bytes.fromhex(at.NIC_MAC["nic-lan"].replace(":", ""))
    hostile = ip_frames.Hostile(
        random.Random(f"{options().seed}/ip"), (_lan_mac(live), router), _LAN_V4, _LAN_V6
    )
    made = [hostile.frame() for _ in range(20 * _count())]
    with _nobody_else_notices(live):
        _send(live, [frame for _, frame in made])
        print(f"IP: {dict(Counter(kind for kind, _ in made))}", flush=True)
    words = ["ping", "-n", "-q", "-c", "1", "-W", "2", _LAN_V4[1]]
    assert " 0% packet loss" in live.topology.run(live.topology.namespaces.lan, words, check=False)
