"""An agent in memory: what the command line asks of AgentClient, with revisions and no router."""

from __future__ import annotations

from typing import Any, TypeVar

from appliance.client.answers import Answer, CommitAnswer, ConfigAnswer, PlanAnswer, StatusAnswer
from appliance.config.capabilities import Capabilities
from appliance.config.dump import digest, dump
from appliance.config.load import parse_document
from appliance.config.validate import check, require_valid
from appliance.errors import Conflict, MillraceError, NotFound, Problem
from appliance.state import Answer as StateAnswer
from appliance.state import Part, Question
from appliance.state.commit_options import CommitOptions

A = TypeVar("A", bound=StateAnswer)
Q = TypeVar("Q", bound=Question)
_GUARDED = {"interface": "wan0", "accepted": {"bgp": 7, "echo": 0}, "dropped": {"tcp": 12, "udp": 0}}
_COUNTS = {f"{way}_{what}": 0 for way in ("rx", "tx") for what in ("packets", "bytes", "drops", "errors")}
STATE: dict[str, dict[str, Any]] = {
    "counters": {"counters": [{"interface": "wan0", **_COUNTS, "rx_packets": 7, "tx_packets": 9}]},
    "interfaces": {
        "interfaces": [
            {
                "name": "wan0",
                "type": "ethernet",
                "enabled": True,
                "link": "up",
                "mtu": 1500,
                "mac": "02:00:00:00:00:01",
                "addresses": ["192.0.2.2/30"],
            }
        ]
    },
    "bgp": {"neighbors": {"192.0.2.1": {"state": "Established", "description": "evil\x1b[2J"}}},
    "control-plane": {
        "interfaces": [_GUARDED, {**_GUARDED, "interface": "lan0"}],
        "policers": [{"family": "ipv4", "rate_pps": 50_000, "passed": 7, "dropped": 3}],
    },
    "health": {"parts": {"frr": {"state": "up", "detail": "all daemons run"}}},
}
"""What the agent says of each part of the live state."""


class FakeAgent:
    """Keeps documents as they were committed, with secrets in clear: it has nothing to seal them with."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.documents = [{"schema_version": 1}, document]
        self.commits: list[CommitOptions] = []
        self.capabilities = Capabilities("linux")
        self.planned: PlanAnswer | MillraceError = PlanAnswer(own_path=[])

    def close(self) -> None:
        """Nothing to close."""

    def config(self) -> ConfigAnswer:
        document = self.documents[-1]
        revision = len(self.documents) - 1
        return ConfigAnswer(revision=revision, digest=digest(document), document=document)

    def status(self) -> StatusAnswer:
        return StatusAnswer(revision=len(self.documents) - 1, drift=[], pending_confirm=None, health={})

    def validate(self, document: dict[str, Any]) -> list[Problem]:
        return check(parse_document(document), self.capabilities)

    def plan(self, document: dict[str, Any], caller_address: str | None = None) -> PlanAnswer:
        """What ``planned`` says, which a test sets: a plan, or why there is none."""
        if isinstance(self.planned, MillraceError):
            raise self.planned
        return self.planned

    def commit(
        self, document: dict[str, Any], options: CommitOptions, *, base_revision: int, **_: Any
    ) -> CommitAnswer:
        if base_revision != len(self.documents) - 1:
            raise Conflict("another revision runs by now")
        config = parse_document(document)
        require_valid(config, self.capabilities)
        self.commits.append(options)
        self.documents.append(dump(config, "reveal"))
        return _done(len(self.documents) - 1)

    def rollback(self, revision: int, options: CommitOptions, **_: Any) -> CommitAnswer:
        self.documents.append(self.revision(revision)["document"])
        return _done(len(self.documents) - 1)

    def revision(self, number: int) -> Answer:
        if number >= len(self.documents):
            raise NotFound(f"there is no revision {number}")
        return Answer(revision=number, document=self.documents[number], diff=[])

    def revisions(self, limit: int = 50, before: int | None = None) -> list[Answer]:
        return [Answer(revision=number) for number in reversed(range(len(self.documents)))][:limit]

    def state(self, part: Part[Q, A], question: Q | None = None) -> A:
        return part.answer.model_validate(STATE[part.name])


def _done(revision: int) -> CommitAnswer:
    return CommitAnswer(
        request_id="r",
        state="done",
        revision=revision,
        steps=[{"summary": "did something"}],
        error=None,
        confirm_expires_at=None,
    )
