"""What the agent answers: its JSON as it came, with typed properties for what callers mostly ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from appliance.config.diff import Change
from appliance.impact.result import Result
from appliance.state.commits import CommitOutcome, CommitsUnderWay, CommitUnderWay
from appliance.state.configuration import RecordedRevision
from appliance.state.watch import WatchReport


class Answer(dict[str, Any]):
    """A JSON object."""


class StatusAnswer(Answer):
    """``GET /v1/status``."""

    @property
    def revision(self) -> int:
        """Running revision; 0 before the first commit."""
        return int(self["revision"])

    @property
    def digest(self) -> str:
        """SHA-256 of the running document."""
        return str(self["digest"])

    @property
    def dataplane(self) -> str:
        """``vpp`` or ``linux``."""
        return str(self["dataplane"])

    @property
    def capabilities(self) -> dict[str, Any]:
        """See ``appliance.config.capabilities.Capabilities.from_json``."""
        return dict(self["capabilities"])

    @property
    def pending_confirm(self) -> dict[str, Any] | None:
        """``revision``, ``expires_at`` and ``seconds_left`` of what awaits confirmation."""
        pending: dict[str, Any] | None = self["pending_confirm"]
        return pending

    @property
    def watch(self) -> WatchReport | None:
        """What the watch after the last commit sees; None when none goes on."""
        watch = self.get("watch")
        return None if watch is None else WatchReport.model_validate(watch)

    @property
    def commits(self) -> CommitsUnderWay:
        """The commit that runs, and those that wait."""
        return CommitsUnderWay.model_validate(self.get("commits") or {"most_queued": 0})

    @property
    def drift(self) -> list[str]:
        """What would be done to bring the router back to the running revision; empty when it is there."""
        return list(self["drift"])

    @property
    def damage(self) -> list[str]:
        """Recorded state that cannot be read: what runs instead and what to do, a sentence each."""
        return list(self.get("damage", ()))

    @property
    def storage(self) -> dict[str, dict[str, int]]:
        """``used_bytes``, ``quota_bytes`` and a count of each kind of what is kept."""
        return dict(self.get("storage", {}))

    @property
    def alarms(self) -> dict[str, Any]:
        """``counts`` by severity, ``worst``, ``looked_s_ago`` and ``unchecked``: see state.alarms.Alarms."""
        return dict(self.get("alarms", {}))

    @property
    def health(self) -> dict[str, dict[str, str]]:
        """Backend name to ``state`` and ``detail``."""
        return dict(self["health"])


class ConfigAnswer(Answer):
    """``GET /v1/config``."""

    @property
    def revision(self) -> int:
        """Running revision."""
        return int(self["revision"])

    @property
    def digest(self) -> str:
        """SHA-256 of the document."""
        return str(self["digest"])

    @property
    def document(self) -> dict[str, Any]:
        """Canonical document; secrets sealed."""
        return dict(self["document"])


class PlanAnswer(Answer):
    """``POST /v1/plan``."""

    @property
    def base_revision(self) -> int:
        """The revision that runs."""
        return int(self["base_revision"])

    @property
    def diff(self) -> list[dict[str, Any]]:
        """``op``, ``path``, ``before`` and ``after`` of each change; secrets masked."""
        return list(self["diff"])

    @property
    def steps(self) -> list[dict[str, str]]:
        """``backend``, ``phase``, ``summary``, ``undo_summary``, ``impact`` and ``path``, in order."""
        return list(self["steps"])

    @property
    def frr_diff(self) -> list[str]:
        """Lines of a unified diff of FRR's configuration; secrets masked."""
        return list(self["frr_diff"])

    @property
    def impacts(self) -> list[str]:
        """Distinct impacts of the steps, without ``none``."""
        return list(self["impacts"])

    @property
    def result(self) -> Result:
        """What the commit does once it is made. An older agent did not look."""
        return Result.model_validate(self.get("result", {}))

    @property
    def summary(self) -> list[str]:
        """Steps and result in sentences that say no more than was looked at."""
        return list(self.get("summary", ()))


class CommitAnswer(Answer):
    """``POST /v1/commit``, ``POST /v1/rollback`` and ``GET /v1/commits/{request_id}``."""

    @property
    def request_id(self) -> str:
        """By which the result can be looked up again."""
        return str(self["request_id"])

    @property
    def state(self) -> Literal["done", "failed", "running"]:
        """``running``: look it up later by its request id."""
        state: Literal["done", "failed", "running"] = self["state"]
        return state

    @property
    def revision(self) -> int | None:
        """The revision it made; the running one when there was nothing to do."""
        revision: int | None = self["revision"]
        return revision

    @property
    def steps(self) -> list[dict[str, str]]:
        """Steps that were applied."""
        return list(self["steps"])

    @property
    def error(self) -> dict[str, Any] | None:
        """``step``, ``message``, ``kind``, ``undone`` and ``problems`` of a failed one."""
        error: dict[str, Any] | None = self["error"]
        return error

    @property
    def confirm_reason(self) -> str:
        """Why it is rolled back unless confirmed, when nobody asked for that."""
        return str(self.get("confirm_reason", ""))

    @property
    def reopened(self) -> list[str]:
        """What it set up again that the revision before had kept closed, a sentence each."""
        return list(self.get("reopened", ()))

    @property
    def outcome(self) -> CommitOutcome:
        """The same as a value, without ``recorded``."""
        return CommitOutcome.model_validate(self)

    @property
    def progress(self) -> CommitUnderWay | None:
        """How far it is while it runs or waits; None when that is not known."""
        found = self.get("progress")
        return None if found is None else CommitUnderWay.model_validate(found)

    @property
    def recorded(self) -> RecordedRevision | None:
        """The revision that it made; None when it made none, or is asked about later."""
        found = self.get("recorded")
        return None if found is None else RecordedRevision.model_validate(found)

    @property
    def confirm_expires_at(self) -> datetime | None:
        """When it is rolled back unless confirmed."""
        text = self["confirm_expires_at"]
        return datetime.fromisoformat(text) if text else None


@dataclass(frozen=True)
class EditAnswer:
    """``POST /v1/edits/commit``."""

    base_revision: int
    """The one that was edited."""
    diff: tuple[Change, ...]
    """What the edit changes; secrets masked. Empty when the answer came too late."""
    result: CommitAnswer
    """Of a failed commit, too: see ``appliance.client.failures.raise_failed``."""

    @classmethod
    def read(cls, answer: Mapping[str, Any]) -> EditAnswer:
        """From the agent's JSON."""
        changes = tuple(Change(**change) for change in answer["diff"])
        return cls(int(answer["base_revision"]), changes, CommitAnswer(answer["result"]))
