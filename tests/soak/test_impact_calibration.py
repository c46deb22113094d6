"""Random commits, foretold and then measured: no session or ping is lost that nobody spoke of, and what was
certain happens.

::

    lan host ── lan0 [router] wan0 ── two BGP neighbors, and a host behind them
                        core0 ── OSPF neighbor
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from lab import addressing as at
from lab.frr_daemons import vtysh
from tests.live_lab import LiveLab, json_of, live_lab, wait_until
from tests.requirements import needs_root_netns, require_vpp
from tests.soak.options import DATAPLANES, options

pytestmark = [pytest.mark.soak, pytest.mark.root, needs_root_netns]

Json = dict[str, Any]
WAN4, WAN6, CORE = str(at.WAN.far_v4.ip), str(at.WAN.far_v6.ip), "OSPF on core0"
HOSTS = {"IPv4": str(at.WAN_HOST.far_v4.ip), "IPv6": str(at.WAN_HOST.far_v6.ip)}
HOLD_S = 6
QUIET_S = at.OSPF_DEAD_S + 5
"""So long a session is watched: what refuses its packets shows when it is given up."""
PATCH = {"Content-Type": "application/merge-patch+json"}
TIMERS = {"keepalive_s": HOLD_S // 3, "hold_s": HOLD_S}
QUICK = {"routing": {"bgp": {"peer_groups": {"upstream": {"timers": TIMERS}}}}}


def _neighbor(rng: random.Random, **settings: Any) -> Json:
    return {"routing": {"bgp": {"neighbors": {rng.choice((WAN4, WAN6)): settings}}}}


def _limit(rng: random.Random) -> Json:
    family, limit = rng.choice(((WAN4, (10, 999, 1000, 1001)), (WAN6, (5, 49, 50, 51))))
    name = "ipv4_unicast" if family == WAN4 else "ipv6_unicast"
    return {"routing": {"bgp": {"neighbors": {family: {name: {"maximum_prefix": rng.choice(limit)}}}}}}


def _core(rng: random.Random) -> Json:
    settings = ({"passive": True}, {"hello_interval_s": 7}, {"cost": 20}, {"priority": 3})
    return {"routing": {"ospf": {"interfaces": {"core0": rng.choice(settings)}}}}


def _list(rng: random.Random) -> Json:
    rules = [
        {"action": rng.choice(("permit", "permit", "deny")), "family": family, "protocol": protocol}
        for family, own in (("ipv4", "icmp"), ("ipv6", "icmpv6"))
        for protocol in rng.sample(("tcp", "udp", "any", own), rng.randint(0, 3))
    ]
    rng.shuffle(rules)
    listed = {str(10 * (index + 1)): rule for index, rule in enumerate(rules)}
    bound = rng.choice(("lan0", "wan0", "core0")), rng.choice(("acl_in", "acl_out"))
    return {"acls": {"drawn": {"rules": listed}}, "interfaces": {bound[0]: {bound[1]: ["drawn"]}}}


CHANGES: tuple[Callable[[random.Random], Json], ...] = (
    _limit,
    _limit,
    _core,
    _list,
    _list,
    _list,
    lambda rng: _neighbor(rng, enabled=False),
    lambda rng: _neighbor(rng, password="swordfish"),
    lambda rng: _neighbor(rng, description="words"),
    lambda rng: {"interfaces": {rng.choice(("wan0", "core0")): {"mtu": rng.choice((1400, 1500, 9000))}}},
    lambda rng: {"interfaces": {rng.choice(("wan0", "core0")): {"enabled": False}}},
    lambda rng: {"interfaces": {rng.choice(("wan0", "lan0")): {"description": "words"}}},
)


class _Measured:
    """Sessions and pings of a lab."""

    def __init__(self, live: LiveLab) -> None:
        self._live = live

    def sessions(self) -> dict[str, float]:
        """When each session that is up began; of OSPF's that is not told."""
        neighbors = json_of(self._live.api.get("/state/bgp"))["neighbors"]
        up: dict[str, float] = {
            one: neighbors[one]["established_epoch_s"]
            for one in (WAN4, WAN6)
            if neighbors.get(one, {}).get("state") == "Established"
        }
        if any(one["full"] for one in json_of(self._live.api.get("/state/ospf"))["neighbors"]):
            up[CORE] = 0
        return up

    def answers(self, family: str) -> bool:
        """Whether the far host answers the LAN host."""
        argv = ["ping", "-n", "-q", "-i", "0.1", "-W", "1", "-c", "3", HOSTS[family]]
        output = self._live.topology.run(self._live.topology.namespaces.lan, argv, check=False)
        return " 100% packet loss" not in output

    def all_well(self) -> bool:
        """Everything is up."""
        return len(self.sessions()) == 3 and all(map(self.answers, HOSTS))

    def lost(self, before: dict[str, float], expected: set[str]) -> set[str]:
        """Sessions that were lost for a moment at least; ends when all that is expected has happened."""
        lost: set[str] = set()
        ends_s = time.monotonic() + QUIET_S
        while time.monotonic() < ends_s and not (expected and expected <= lost):
            now = self.sessions()
            lost |= {name for name, began_s in before.items() if _is_another(began_s, now.get(name))}
            time.sleep(0.5)
        return lost


def _is_another(began_s: float, now_s: float | None) -> bool:
    """Whether a session is gone or was set up anew; its begin may be told a second off."""
    return now_s is None or now_s > began_s + 2


def _round(live: LiveLab, measured: _Measured, base: int, rng: random.Random) -> list[str]:
    patch = rng.choice(CHANGES)(rng)
    plan = json_of(live.api.patch("/config?dry_run=true", json=patch, headers=PATCH))
    findings, disturbed = plan["result"]["findings"], " ".join(plan["impacts"])
    told = {name for name in (WAN4, WAN6, CORE) for one in findings if name in one["text"]}
    told |= {name for name in (WAN4, WAN6) if name in disturbed}
    told |= {CORE} if "ospf" in disturbed else set()
    certain = {
        name
        for name in (WAN4, WAN6, CORE)
        for one in findings
        if name in one["text"] and (one["grade"], one["kind"]) == ("certain", "session")
    }
    before = measured.sessions()
    json_of(live.api.patch("/config?confirm_s=0", json=patch, headers=PATCH))
    wrong = []
    lost = measured.lost(before, certain)
    wrong += [f"{name} was lost, and nobody said so" for name in sorted(lost - told)]
    wrong += [f"{name} was certain to be lost, and was not" for name in sorted(certain - lost)]
    for family in HOSTS:
        spoken = any(family in one["text"] or one["kind"] in ("session", "traffic") for one in findings)
        passes = measured.answers(family)
        if not passes and not spoken:
            wrong.append(f"{family} is lost, and nobody said so")
        if passes and any(
            one["text"].startswith(f"All {family} packets received on lan0") for one in findings
        ):
            wrong.append(f"all {family} of the LAN was certain to be dropped, and was not")
    json_of(live.api.post("/rollback", json={"revision": base, "confirm_s": 0}))
    vtysh(live.topology.namespaces.router, "clear bgp *")
    wait_until(measured.all_well, timeout_s=120, what="everything is up again")
    sentences = [f"{one['grade']}: {one['text']}" for one in findings]
    print(f"{patch}\n  foretold {sentences}\n  lost {sorted(lost)}{'  WRONG ' + str(wrong) if wrong else ''}")
    return [f"{patch}: {one}; foretold: {sentences}" for one in wrong]


@pytest.mark.parametrize("dataplane", DATAPLANES)
def test_what_was_foretold_is_what_happened(dataplane: str) -> None:
    asked = options()
    if dataplane not in asked.dataplanes:
        pytest.skip("another data plane was asked for")
    if dataplane == "vpp":
        require_vpp()
    print(f"seed {asked.seed}")
    with live_lab(f"i{dataplane[0]}", dataplane) as live:
        measured = _Measured(live)
        json_of(live.api.patch("/config?confirm_s=0", json=QUICK, headers=PATCH))
        vtysh(live.topology.namespaces.router, "clear bgp *")
        wait_until(measured.all_well, timeout_s=120, what="everything is up")
        base = live.agent.status().revision
        wrong = []
        for number in asked.rounds:
            rng = random.Random(f"{asked.seed} {number}")
            wrong += [f"{asked.replay('calibration', dataplane, number)}\n  {one}" for one in
                      _round(live, measured, base, rng)]  # fmt: skip
    assert not wrong, "\n".join(wrong)
