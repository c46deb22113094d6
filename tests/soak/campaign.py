"""Rounds of work and faults; after each, a check that the router matches its records."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from appliance.config.capabilities import Capabilities
from appliance.errors import MillraceError
from appliance.state.commit_options import CommitOptions
from lab import readiness
from lab.command import run
from lab.errors import LabError
from lab.initial_document import build
from lab.supervision import Supervisor, spawned
from lab.traffic import Flow
from tests.live_lab import LiveLab, wait_until
from tests.soak import evidence, faults, processes, witness
from tests.soak.faults import Fault
from tests.soak.lab_documents import DENIED_HOST, random_lab_document
from tests.soak.leaks import Leaks
from tests.soak.operations import AUTHOR, Books, Operator

Json = dict[str, Any]

_SETTLED_S = 120.0
_ANSWERS_S = 60.0
_OPERATION_S = 400.0
_PPS = 500
_FLOW_S = 600
_PORT = 7110
_OPENING = 3
_CRASH_LOOP = 4
"""The number of agent starts after a fault from which on it will evidently never stay up."""


class Lost(Exception):
    """The lab cannot be brought back to where a round may begin."""


@dataclass(frozen=True)
class Finding:
    """Something that must not be, and how to see it again."""

    number: int
    fault: str
    kind: str
    detail: str
    done: tuple[str, ...]
    replay: str
    evidence: Path

    def __str__(self) -> str:
        return (
            f"round {self.number}, {self.fault}: {self.kind}: {self.detail}\n"
            f"    done: {'; '.join(self.done)}\n    again: {self.replay}\n    kept: {self.evidence}"
        )


@dataclass
class Campaign:
    """A campaign over a running lab; ``replays`` maps a round to the command that runs it alone.

    ``findings`` and ``counted``, how often each fault struck, are added to.
    """

    live: LiveLab
    seed: int
    faults: list[Fault]
    replays: dict[int, str]
    findings: list[Finding]
    counted: Counter[str]
    books: Books = field(default_factory=Books)

    def __post_init__(self) -> None:
        running = set(Supervisor(self.live.directory).states())
        self.faults = [fault for fault in self.faults if not fault.needs or fault.needs in running]
        self._capabilities = Capabilities.from_json(self.live.agent.status().capabilities)
        self._leaks = Leaks(self.live)
        wan_host = self.live.topology.namespaces.wan_host
        run(["ip", "-n", wan_host, "address", "replace", f"{DENIED_HOST}/24", "dev", "eth0"])

    def opening(self) -> None:
        """A short history to roll back to."""
        for number in range(_OPENING):
            mark = f"opening {number}"
            document = random_lab_document(self._rng("opening", number), self._capabilities, mark)
            answer = self.live.agent.commit(document, CommitOptions(author=AUTHOR, comment=mark))
            assert answer.revision is not None
            self.books.runs(answer.revision, mark)

    def round(self, number: int) -> None:
        """One round. What is found is kept, and the router is set up anew after it."""
        rng = self._rng(number, "fault")
        fault = rng.choice(self.faults)
        self.counted[fault.name] += 1
        self.books.told.clear()
        self.books.wrong.clear()
        begun = time.monotonic()
        lost = self._trouble(number, fault, rng)
        faults.heal(self.live)
        found = [*self.books.wrong, *lost, *self._settled(fault)]
        found += [("leak", sentence) for sentence in self._leaks.after_round()]
        took_s, done = time.monotonic() - begun, "; ".join(self.books.told)
        verdict = f"{len(found)} FOUND" if found else "as it should be"
        print(f"round {number}: {fault.name}: {done} ({took_s:.1f} s): {verdict}", flush=True)
        kept = evidence.keep(self.live, number) if found else Path()
        told, replay = tuple(self.books.told), self.replays.get(number, "")
        for kind, detail in found:
            finding = Finding(number, fault.name, kind, detail, told, replay, kept)
            self.findings.append(finding)
            print(f"FOUND {finding}", flush=True)
        if any(kind != "leak" for kind, _ in found):
            self._anew()

    def _rng(self, *parts: object) -> random.Random:
        return random.Random(f"{self.seed}/" + "/".join(map(str, parts)))

    def _trouble(self, number: int, fault: Fault, rng: random.Random) -> list[tuple[str, str]]:
        """An operation and a fault at the same time; returns the packets that were lost and must not be."""
        when = rng.choice(fault.when)
        with self._flow(fault) as lost:
            work = threading.Thread(target=self._operate, args=(number, fault), name="operator", daemon=True)
            if when == "before":
                self.books.told.append(fault.begin(self.live, rng))
            work.start()
            if when == "during":
                processes.pause(rng.uniform(0.0, 0.6))
                self.books.told.append(fault.begin(self.live, rng))
            if when != "after" and not fault.lasts:
                processes.pause(rng.uniform(0.2, 2.5))
                fault.end(self.live)
            work.join(_OPERATION_S)
            if work.is_alive():
                self.books.wrong.append(("hang", f"an operation did not end within {_OPERATION_S:g} s"))
            if when == "after":
                self.books.told.append(fault.begin(self.live, rng))
            fault.end(self.live)
        return lost

    def _operate(self, number: int, fault: Fault) -> None:
        operator = Operator(
            self.live,
            self.books,
            self._capabilities,
            self._rng(number, "operation"),
            f"seed {self.seed} round {number}",
            steady=fault.steady,
        )
        try:
            operator.act()
        except Exception as error:  # a thread's exception is nobody's: it becomes a finding
            self.books.wrong.append(("harness", f"{type(error).__name__}: {error}"))

    @contextmanager
    def _flow(self, fault: Fault) -> Iterator[list[tuple[str, str]]]:
        """Packets all the while, where the fault must not cost any; the list is filled at the end."""
        lost: list[tuple[str, str]] = []
        if not fault.lossless:
            yield lost
            return
        names = self.live.topology.namespaces
        with Flow(
            self.live.directory / "bin",
            sender=names.lan,
            receiver=names.wan_host,
            destination=witness.FAR_HOSTS[0],
            pps=_PPS,
            seconds=_FLOW_S,
            port=_PORT,
        ) as flow:
            yield lost
            result = flow.stop()
        if result.lost or result.duplicates:
            lost.append(("forwarding", f"{result.lost} of {result.sent} packets were lost: {result}"))

    def _settled(self, fault: Fault) -> list[tuple[str, str]]:
        """Wait until the router is at rest at its last revision; returns the obstacle, if it never is."""
        if fault.harms_history:
            self.books.may_run |= set(self.books.marks.values())
            self.books.harmed = True
        deadline, starts = time.monotonic() + _SETTLED_S, self._agent_starts()
        while (problem := self._problem()) is not None:
            if time.monotonic() > deadline:
                return [problem]
            if (more := self._agent_starts() - starts) >= _CRASH_LOOP:
                return [("crash-loop", f"the agent was started {more} times: {problem[1]}")]
            time.sleep(0.2)
        status, document = self.live.agent.status(), self.live.agent.config().document
        mark = document.get("system", {}).get("banner", "")
        found = []
        if mark not in self.books.may_run:
            wanted = " or ".join(sorted(self.books.may_run))
            found.append(("wrong-document", f"revision {status.revision} is {mark!r}, not {wanted!r}"))
        if status.revision < self.books.newest and not fault.harms_history:
            found.append(("lost-revision", f"{status.revision} runs after {self.books.newest} was recorded"))
        self.books.runs(status.revision, mark)
        self.books.harmed = status.health["revisions"]["state"] != "up"
        if fault.harms_history:
            self.books.marks = {
                number: mark for number, mark in self.books.marks.items() if number <= status.revision
            }
        return found

    def _agent_starts(self) -> int:
        return sum(1 for name, _ in spawned(self.live.directory) if name == "agent")

    def _problem(self) -> tuple[str, str] | None:
        """The first thing that is wrong now: its kind, and what was observed."""
        states = Supervisor(self.live.directory).states()
        if stopped := {name: state for name, state in states.items() if state != "RUNNING"}:
            return "programs", f"{stopped}"
        try:
            status, config = self.live.agent.status(), self.live.agent.config()
            if status.pending_confirm is not None:
                return "pending", f"{status.pending_confirm}"
            history = status.health["revisions"]
            parts = {name: entry for name, entry in status.health.items() if name != "revisions"}
            if down := {name: entry for name, entry in parts.items() if entry["state"] != "up"}:
                return "health", f"{down}"
            if history["state"] != "up" and not self.books.harmed:
                return "health", f"{history}"
            if status.revision < self.books.newest and history["state"] == "up":
                return (
                    "silent-damage",
                    f"{status.revision} runs instead of {self.books.newest}, and health is up",
                )
            if status.drift:
                return "drift", "; ".join(status.drift[:5])
            if steps := self.live.agent.plan(config.document).steps:
                return "drift", "; ".join(step["summary"] for step in steps[:5])
        except MillraceError as error:
            return "agent", f"{type(error).__name__}: {error}"
        if differences := witness.differences(self.live, config.document):
            return "witness", "; ".join(differences)
        for check in readiness.routing_checks(self.live.topology.namespaces):
            if (seen := readiness.look(check)) is not None:
                return "routing", f"{check.name}: {seen}"
        if silent := witness.forwarding(self.live, config.document):
            return "forwarding", "; ".join(silent)
        return self._web_problem()

    def _web_problem(self) -> tuple[str, str] | None:
        try:
            response = self.live.api.get("/status")
        except OSError as error:
            return "web", str(error)
        except Exception as error:  # every kind of a broken connection
            return "web", f"{type(error).__name__}: {error}"
        return None if response.is_success else ("web", f"{response.status_code}: {response.text[:200]}")

    def _anew(self) -> None:
        """Forget everything: an agent without history takes the router over and commits the opening again."""
        faults.heal(self.live)
        supervisor = Supervisor(self.live.directory)
        supervisor.stop_program("agent")
        for path in sorted((self.live.directory / "agent").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        supervisor.start_program("agent")
        try:
            wait_until(self._answers, timeout_s=_ANSWERS_S, what="an agent without history answers")
        except AssertionError as error:
            raise Lost(str(error)) from error
        self.books = Books()
        deadline = time.monotonic() + _SETTLED_S
        while True:
            try:
                first = build("vpp" if self.live.dataplane == "vpp" else "linux")
                self.live.agent.commit(first, CommitOptions(author=AUTHOR, comment="anew"))
                break
            except MillraceError as error:
                if time.monotonic() > deadline:
                    raise Lost(f"a router set up anew takes no commit: {error}") from error
                time.sleep(1.0)
        self.opening()
        deadline = time.monotonic() + _SETTLED_S
        while (problem := self._problem()) is not None:
            if time.monotonic() > deadline:
                raise Lost(f"a router set up anew does not come to rest: {problem}")
            time.sleep(0.2)

    def _answers(self) -> bool:
        try:
            return self.live.agent.status().revision == 0
        except (MillraceError, LabError):
            return False


def summarized(seed: int, dataplane: str, findings: list[Finding], counted: Counter[str]) -> str:
    """All that was found, by kind of fault and finding, and how often each fault struck."""
    struck = ", ".join(f"{name} {times}" for name, times in sorted(counted.items()))
    classes = Counter((finding.fault, finding.kind) for finding in findings)
    lines = [f"seed {seed} on {dataplane}: {len(findings)} findings; faults: {struck}"]
    lines += [f"  {times} times {fault}: {kind}" for (fault, kind), times in sorted(classes.items())]
    return "\n".join([*lines, *map(str, findings)])
