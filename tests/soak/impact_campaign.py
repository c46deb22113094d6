"""Rounds of changes in a running lab: foretold, committed, measured, undone."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import httpx

from lab.command import run
from lab.frr_daemons import vtysh
from lab.namespaces import run_in
from lab.supervision import spawned
from tests.live_lab import LiveLab, json_of
from tests.soak.impact_cases import NAMED, Case, drawn, patched, undone, watched_s
from tests.soak.impact_changes import BASE, DEAD_S, HELLO_S, WAN4, WAN6
from tests.soak.impact_report import PAUSE_S
from tests.soak.impact_verdict import CORE, Foretold, Measured, Verdict, judged
from tests.soak.mixed_traffic import Traffic
from tests.soak.traffic_flows import Counted, Flow

Json = dict[str, Any]
PATCH = {"Content-Type": "application/merge-patch+json"}
_WELL_S = 90.0
_LOOK_S = 1.1
"""In it every flow sends at least once."""
_DRAIN_S = 0.3
_SETTLE_S = 12.0
_TRIES = 4


class Lost(Exception):
    """The lab cannot be brought back to where a round may begin."""


@dataclass
class Round:
    """What a round was and showed."""

    number: int
    name: str
    patch: Json
    first: Json
    foretold: list[str]
    told: Foretold
    measured: Measured
    verdict: Verdict
    refused: bool = False
    repeated: list[str] = field(default_factory=list)
    """What was wrong before it was done again."""
    took_s: float = 0.0
    evidence: str = ""

    def as_json(self) -> Json:
        """For the report."""
        told = asdict(self.verdict)
        return {
            "number": self.number,
            "name": self.name,
            "first": self.first,
            "patch": self.patch,
            "foretold": self.foretold,
            "sessions_lost": sorted(self.measured.sessions),
            "disturbed": {str(flow): how for flow, how in self.measured.disturbed.items()},
            "routes": self.measured.routes,
            "died": self.measured.died,
            "pause_s": round(self.measured.pause_s, 2),
            "refused": self.refused,
            **told,
            "plan": {
                "findings": self.told.findings,
                "impacts": self.told.impacts,
                "outside": sorted(self.told.outside),
                "document": {key: self.told.document.get(key) for key in ("acls", "interfaces")},
            },
            "before": sorted(map(str, self.measured.before)),
            "silent": sorted(map(str, self.measured.silent)),
            "not_repeated": self.repeated,
            "evidence": self.evidence,
            "took_s": round(self.took_s, 1),
        }


class Bench:
    """A lab with traffic through it, on which rounds are done."""

    def __init__(self, live: LiveLab, traffic: Traffic, seed: int) -> None:
        self.live, self._traffic, self._seed = live, traffic, seed
        self._names = live.topology.namespaces
        self._neighbors: dict[str, str] = {}
        """Their configurations before."""
        self._was = live.agent.status().revision
        self._quicken()
        json_of(live.api.patch("/config?confirm_s=0", json=BASE, headers=PATCH))
        self._whole: dict[str, int] = {}
        self._wait_until_well()
        self._whole = self._routes(self._bgp())
        self._base = live.agent.status().revision
        self._document: Json = json_of(live.api.get("/config"))

    def give_back(self) -> None:
        """The lab as it was."""
        json_of(self.live.api.post("/rollback", json={"revision": self._was, "confirm_s": 0}))
        for name, text in self._neighbors.items():
            self._configure(name, text)
        run_in(self._names.wan, ["nft", "delete table ip farther"])

    def named(self, number: int) -> Round:
        """A round with a name."""
        return self._done(-1 - number, lambda: NAMED[number])

    def round(self, number: int) -> Round:
        """A round that is drawn."""
        rng = random.Random(f"{self._seed} {number}")
        return self._done(number, lambda: drawn(rng, self.live.dataplane))

    def quiet(self, seconds: float) -> dict[Flow, str]:
        """What is lost while nothing is committed."""
        self._wait_until_well()
        begun_s = self._traffic.begin()
        time.sleep(seconds)
        return self._disturbed(begun_s, time.monotonic(), self._traffic.flows)[0]

    def _done(self, number: int, draw: Callable[[], Case]) -> Round:
        case = draw()
        if case.is_refused:
            return self._refused(number, case)
        while (found := self._tried(number, case)) is None:
            case = draw()
        for _ in range(_TRIES):
            if not found.verdict.is_wrong or found.measured.died:
                break
            again = self._tried(number, case)
            assert again is not None
            again.repeated = [*found.repeated, *found.verdict.untold, *found.verdict.alarms, found.evidence]
            found = again
            if found.measured.pause_s < PAUSE_S:
                break
        return found

    def _refused(self, number: int, case: Case) -> Round:
        """A document that cannot be committed has problems, and nothing is said of a result."""
        begun_s = self._traffic.begin()
        answer = self.live.api.patch("/config?dry_run=true", json=case.patch, headers=PATCH)
        body = answer.json()
        verdict = Verdict()
        if not body.get("problems"):
            verdict.untold.append(f"it was answered with {answer.status_code}: {body}")
        if body.get("result") or body.get("summary") or body.get("impacts"):
            verdict.untold.append(f"a result is foretold of what cannot be: {body}")
        kept = self.live.api.patch("/config?confirm_s=0", json=case.patch, headers=PATCH)
        if kept.status_code != 422 or self.live.agent.status().revision != self._base:
            verdict.untold.append(f"it was committed: {kept.text}")
        time.sleep(1)
        disturbed, _ = self._disturbed(begun_s, time.monotonic(), self._traffic.flows)
        verdict.untold += [f"{flow}: {how}" for flow, how in disturbed.items() if flow.protocol != "forward"]
        return Round(
            number, case.name, case.patch, {}, [], Foretold((), (), {}), Measured(), verdict, refused=True
        )

    def _tried(self, number: int, case: Case) -> Round | None:
        """None where the router refuses the change, which then is none."""
        begun_s = time.monotonic()
        known = len(spawned(self.live.directory))
        first, patch = case.first, case.patch
        if case.is_rollback:
            first, patch = case.patch, undone(self._document, case.patch)
        document = patched(self._document, first)
        if first:
            answer = self.live.api.patch("/config?confirm_s=0", json=first, headers=PATCH)
            if answer.status_code == 422:
                return None
            json_of(answer)
            self._settle(watched_s(first))
        plan = json_of(self.live.api.patch("/config?dry_run=true", json=patch, headers=PATCH))
        if plan["problems"]:
            self._take_back()
            return None
        told = Foretold(
            tuple(plan["result"]["findings"]),
            tuple(plan["impacts"]),
            patched(document, patch),
            frozenset(
                name
                for one in (document, patched(document, patch))
                for name in (one.get("nat") or {}).get("outside", ())
            ),
        )
        measured, evidence = self._measured(case, patch)
        verdict = judged(told, measured)
        measured.died = tuple(sorted({name for name, _ in spawned(self.live.directory)[known:]}))
        sentences = [f"{one['grade']}: {one['text']}" for one in told.findings]
        sentences += [f"steps: {words}" for words in told.impacts]
        sentences += [f"not looked at: {words}" for words in plan["result"]["not_looked_at"]]
        if verdict.is_wrong:
            evidence += self._evidence()
        self._take_back()
        took_s = time.monotonic() - begun_s
        return Round(
            number,
            case.name,
            patch,
            first,
            sentences,
            told,
            measured,
            verdict,
            took_s=took_s,
            evidence=evidence,
        )

    def _measured(self, case: Case, patch: Json) -> tuple[Measured, str]:
        before_s = time.monotonic()
        passing = self._traffic.passing(before_s - _LOOK_S - _DRAIN_S, before_s - _DRAIN_S)
        bgp = self._bgp()
        sessions, routes = self._sessions(bgp), self._routes(bgp)
        begun_s = self._traffic.begin()
        if case.is_rollback:
            json_of(self.live.api.post("/rollback", json={"revision": self._base, "confirm_s": 0}))
        else:
            json_of(self.live.api.patch("/config?confirm_s=0", json=patch, headers=PATCH))
        ends_s = time.monotonic() + watched_s(patch)
        lost: set[str] = set()
        fewest = dict(routes)
        while time.monotonic() < ends_s:
            try:
                bgp = self._bgp()
                now, counts = self._sessions(bgp), self._routes(bgp)
            except httpx.HTTPError:
                now, counts = {}, {}
            lost |= {name for name, one_s in sessions.items() if _is_another(one_s, now.get(name))}
            fewest = {what: min(number, counts.get(what, 0)) for what, number in fewest.items()}
            time.sleep(0.4)
        end_s = time.monotonic()
        time.sleep(_DRAIN_S)
        disturbed, silent = self._disturbed(begun_s, end_s, passing)
        measured = Measured(
            sessions=frozenset(lost),
            disturbed=disturbed,
            silent=silent,
            before=passing,
            routes={what: (number, fewest[what]) for what, number in routes.items()},
            pause_s=self._traffic.worst_pause_s,
        )
        return measured, f"worst pause {measured.pause_s:.2f} s"

    def _disturbed(
        self, begun_s: float, end_s: float, passing: Any
    ) -> tuple[dict[Flow, str], frozenset[Flow]]:
        """Flows that lost something, and those of which nothing passes in the end."""
        disturbed: dict[Flow, str] = {}
        silent = set()
        for flow, counted in self._traffic.seen().items():
            if flow not in passing:
                continue
            last_s = end_s - (1.0 if flow.protocol == "connect" else 0.2)
            sent, lost = counted.between(begun_s, last_s)
            if flow.protocol == "tcp":
                lost = 0
            if lost or counted.resets:
                disturbed[flow] = f"{lost} of {sent} lost" + (
                    f", broken {counted.resets} times" if counted.resets else ""
                )
            if _is_silent(flow, counted, last_s):
                silent.add(flow)
                disturbed.setdefault(flow, "nothing passes in the end")
        return disturbed, frozenset(silent)

    def _bgp(self) -> Json:
        neighbors: Json = json_of(self.live.api.get("/state/bgp"))["neighbors"]
        return neighbors

    def _sessions(self, neighbors: Json) -> dict[str, float]:
        """When each session that is up began; of OSPF's that is not told."""
        up: dict[str, float] = {
            one: neighbors[one]["established_epoch_s"]
            for one in (WAN4, WAN6)
            if neighbors.get(one, {}).get("state") == "Established"
        }
        if any(one["full"] for one in json_of(self.live.api.get("/state/ospf"))["neighbors"]):
            up[CORE] = 0
        return up

    @staticmethod
    def _routes(neighbors: Json) -> dict[str, int]:
        counts = {}
        for address, family in ((WAN4, "ipv4_unicast"), (WAN6, "ipv6_unicast")):
            known = neighbors.get(address, {}).get("families", {}).get(family, {})
            counts[f"received from {address}"] = known.get("prefixes_received") or 0
            counts[f"sent to {address}"] = known.get("prefixes_sent") or 0
        return counts

    def _settle(self, least_s: float) -> None:
        """Until what passes is the same for a while, and what loses its packets has ended: a connection that
        was kept waiting does not send again at once.
        """
        least_s, ends_s = time.monotonic() + least_s, time.monotonic() + _SETTLE_S
        seen: list[tuple[frozenset[Flow], dict[str, float]]] = []
        self._traffic.begin()
        time.sleep(_LOOK_S + _DRAIN_S)
        while time.monotonic() < ends_s:
            now_s = time.monotonic()
            passing = self._traffic.passing(now_s - _LOOK_S - _DRAIN_S, now_s - _DRAIN_S)
            seen.append((passing, self._sessions(self._bgp())))
            if now_s > least_s and len(seen) > 2 and seen[-1] == seen[-2] == seen[-3]:
                return
            time.sleep(0.5)

    def _take_back(self) -> None:
        if self.live.agent.status().revision != self._base:
            answer = json_of(self.live.api.post("/rollback", json={"revision": self._base, "confirm_s": 0}))
            self._base = answer["revision"]
        self._wait_until_well()

    def _wait_until_well(self) -> None:
        run(["ip", "-n", self._names.lan, "route", "flush", "cache"], check=False)
        cleared_s = time.monotonic()
        ends_s = cleared_s + _WELL_S
        self._traffic.begin()
        while missing := self._missing():
            now_s = time.monotonic()
            if now_s > ends_s:
                raise Lost(f"not well again: {missing}")
            if now_s - cleared_s > 4 and missing[0] in (WAN4, WAN6):
                vtysh(self._names.router, "clear bgp *")
                cleared_s = now_s + 4
            time.sleep(0.25)

    def _missing(self) -> list[str]:
        """What is not as it is when all is well."""
        try:
            neighbors = self._bgp()
            up, routes = self._sessions(neighbors), self._routes(neighbors)
        except (httpx.HTTPError, AssertionError) as error:
            return [f"no answer: {error}"]
        missing = [name for name in (WAN4, WAN6, CORE) if name not in up]
        missing += [what for what, number in self._whole.items() if routes[what] != number]
        now_s = time.monotonic()
        passing = self._traffic.passing(now_s - _LOOK_S - _DRAIN_S, now_s - _DRAIN_S)
        return missing + [
            str(flow) for flow in self._traffic.flows if flow.protocol != "forward" and flow not in passing
        ]

    def _evidence(self) -> str:
        told = [
            f"{address}: {one.get('last_reset')}"
            for address, one in self._bgp().items()
            if one.get("last_reset")
        ]
        return f"; {'; '.join(told)}"

    def _quicken(self) -> None:
        """Timers of the neighbors that end a session within seconds."""
        for name, changes in (
            (
                "wan-peer",
                {
                    "error wait time 1, 4": "error wait time 1, 1",
                    "connect retry time 2": "connect retry time 1",
                },
            ),
            ("core-neighbour", {"hello 5; dead 20;": f"hello {HELLO_S}; dead {DEAD_S};"}),
        ):
            text = self._neighbors[name] = (self.live.directory / f"{name}.conf").read_text()
            for old, new in {**changes, "interval 100 ms": "interval 400 ms"}.items():
                assert old in text, f"{name} has no {old!r}"
                text = text.replace(old, new)
            self._configure(name, text)
        # NAT of VPP takes no packets with a TTL of 1. The router takes any, and its own are for one hop.
        for words in (
            "add table ip farther",
            "add chain ip farther sent { type filter hook postrouting priority 0; }",
            "add rule ip farther sent tcp sport 179 ip ttl set 64",
            "add rule ip farther sent tcp dport 179 ip ttl set 64",
        ):
            run_in(self._names.wan, ["nft", words])

    def _configure(self, neighbor: str, text: str) -> None:
        (self.live.directory / f"{neighbor}.conf").write_text(text)
        run(["birdc", "-s", str(self.live.directory / "run" / f"{neighbor}.ctl"), "configure"])


def _is_silent(flow: Flow, counted: Counted, last_s: float) -> bool:
    if flow.protocol == "tcp":
        return bool(counted.resets) and not any(counted.arrived[-4:])
    sent, lost = counted.between(last_s - _LOOK_S, last_s)
    return bool(sent) and lost == sent


def _is_another(began_s: float, now_s: float | None) -> bool:
    """Whether a session is gone or was set up anew; its begin may be told a second off."""
    return now_s is None or now_s > began_s + 2
