"""What an operator does in a round, and what may run after it: commits, confirm timers, rollbacks."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from appliance.client.answers import CommitAnswer
from appliance.config.capabilities import Capabilities
from appliance.errors import AgentRefused, AgentUnavailable, MillraceError, NotFound
from appliance.state.commit_options import CommitOptions
from tests.live_lab import LiveLab
from tests.soak.lab_documents import random_lab_document

Json = dict[str, Any]

AUTHOR = "soak"
_ANSWER_S = 120.0
_RESOLVED_S = 90.0
_LATE_S = 20.0
"""How much later than its timer an unconfirmed revision may be gone on a busy machine."""
_EARLY_S = 0.5
_NEWEST = 12
_UNEXPECTED = "its log says more"
"""What the agent answers where it has no name for what happened."""
_KINDS = ("commit", "commit", "confirm", "expire", "replace", "rollback", "rollback-expire", "page")


@dataclass
class Books:
    """What was acknowledged, and so what may run. A mark is a document's banner: it names the round."""

    may_run: set[str] = field(default_factory=set)
    marks: dict[int, str] = field(default_factory=dict)
    """Revision to mark, as far as it is known."""
    told: list[str] = field(default_factory=list)
    """What was done in this round, for the reader of a finding."""
    harmed: bool = False
    """History was damaged, and no commit since has made it whole: health has to say so."""
    wrong: list[tuple[str, str]] = field(default_factory=list)
    """Kind and sentence of each promise that was broken while an operation ran."""

    def runs(self, revision: int, mark: str) -> None:
        """It was seen to run, with no timer on it."""
        self.may_run = {mark}
        self.marks[revision] = mark

    @property
    def newest(self) -> int:
        """The last revision that was acknowledged."""
        return max(self.marks, default=0)


@dataclass
class Operator:
    """Makes the changes of one round; ``steady`` says that timers must be kept to, since the agent lives."""

    live: LiveLab
    books: Books
    capabilities: Capabilities
    rng: random.Random
    mark: str
    steady: bool

    def act(self) -> None:
        """One operation. Failures that are named are part of the game; the books say what may run then."""
        kind = self.rng.choice(_KINDS)
        document = random_lab_document(self.rng, self.capabilities, self.mark)
        known = sorted(self.books.marks)[-_NEWEST:]
        earlier = self.rng.choice(known)
        confirm_s = self.rng.choice([2.0, 3.0, 5.0])
        self.books.told.append(kind if "rollback" not in kind else f"{kind} to revision {earlier}")
        match kind:
            case "commit":
                self._change(self._commit(document, None), self.mark)
            case "page":
                self._page(document)
            case "rollback":
                self._change(self._rollback(earlier, None), self.books.marks[earlier])
            case "confirm":
                if self._armed(self._commit(document, 60.0)):
                    self._confirm(self.mark)
            case "expire":
                self._expire(self._commit(document, confirm_s), confirm_s)
            case "rollback-expire":
                self._expire(self._rollback(earlier, confirm_s), confirm_s)
            case "replace":
                before = set(self.books.may_run)
                if self._armed(self._commit(document, 60.0)):
                    self._change(self._rollback(earlier, None), self.books.marks[earlier])
                    # Should the rollback fail, the timer still leads back.
                    self.books.may_run |= before | {self.mark}

    def _commit(self, document: Json, confirm_s: float | None) -> CommitAnswer | None:
        request_id = uuid.UUID(int=self.rng.getrandbits(128)).hex
        return self._answer(
            request_id,
            lambda: self.live.agent.commit(
                document,
                CommitOptions(author=AUTHOR, comment=self.mark, confirm_s=confirm_s, request_id=request_id),
            ),
        )

    def _rollback(self, revision: int, confirm_s: float | None) -> CommitAnswer | None:
        request_id = uuid.UUID(int=self.rng.getrandbits(128)).hex
        return self._answer(
            request_id,
            lambda: self.live.agent.rollback(
                revision, CommitOptions(author=AUTHOR, confirm_s=confirm_s, request_id=request_id)
            ),
        )

    def _answer(self, request_id: str, ask: Callable[[], CommitAnswer]) -> CommitAnswer | None:
        """The result, looked up by its request id where the answer was lost; None when it did not happen."""
        deadline = time.monotonic() + _ANSWER_S
        asked = False
        while time.monotonic() < deadline:
            try:
                answer = self.live.agent.commit_result(request_id) if asked else ask()
            except AgentUnavailable:
                asked = True
            except NotFound:
                return None
            except AgentRefused as error:
                if _UNEXPECTED in str(error):
                    self._wrong("refusal", f"a change met a fault that nobody had thought of: {error}")
                self.books.told.append(f"refused: {error}")
                return None
            except MillraceError as error:
                self.books.told.append(f"refused: {type(error).__name__}: {str(error)[:160]}")
                return None
            else:
                asked = True
                if answer.state != "running":
                    return answer if answer.state == "done" else None
            time.sleep(0.2)
        self._wrong("lost-answer", f"request {request_id} had no result after {_ANSWER_S:g} s")
        return None

    def _change(self, answer: CommitAnswer | None, mark: str) -> None:
        if answer is not None and answer.revision is not None:
            self.books.told.append(f"revision {answer.revision}")
            self.books.runs(answer.revision, mark)

    def _armed(self, answer: CommitAnswer | None) -> bool:
        if answer is not None:
            self.books.told.append(f"revision {answer.revision} awaits confirmation")
        return answer is not None

    def _confirm(self, mark: str) -> None:
        try:
            revision = int(self.live.agent.confirm(AUTHOR)["revision"])
        except (AgentUnavailable, AgentRefused):
            self.books.may_run.add(mark)
        except MillraceError as error:
            self.books.told.append(f"confirm refused: {error}")
            if self.steady:
                self._wrong(
                    "confirm-early", f"a revision with 60 s to confirm could not be confirmed: {error}"
                )
            else:
                self.books.may_run.add(mark)
        else:
            self.books.runs(revision, mark)

    def _expire(self, answer: CommitAnswer | None, confirm_s: float) -> None:
        """Confirm nothing. What ran before has to come back, neither early nor never."""
        if not self._armed(answer):
            return
        begun = time.monotonic()
        while time.monotonic() < begun + confirm_s + (_LATE_S if self.steady else _RESOLVED_S):
            try:
                pending = self.live.agent.status().pending_confirm
            except (AgentUnavailable, AgentRefused):
                pending = {}
            if pending is None:
                elapsed_s = time.monotonic() - begun
                if self.steady and answer is not None and answer.steps and elapsed_s < confirm_s - _EARLY_S:
                    self._wrong("confirm-early", f"{confirm_s:g} s to confirm ended after {elapsed_s:.1f} s")
                return
            time.sleep(0.1)
        if self.steady:
            self._wrong(
                "confirm-late", f"unconfirmed after {confirm_s:g} + {_LATE_S:g} s, and still not back"
            )

    def _page(self, document: Json) -> None:
        """The same as a commit, by the REST API."""
        try:
            response = self.live.api.put("/config", json=document)
        except httpx.HTTPError as error:
            self.books.told.append(f"the API: {type(error).__name__}")
            self.books.may_run.add(self.mark)
            return
        self.books.told.append(f"the API answered {response.status_code}")
        if response.is_success:
            self._change(_as_answer(response.json()), self.mark)
        elif response.status_code >= 500:
            self.books.may_run.add(self.mark)
            if response.status_code == 500:
                self._wrong("api-500", f"the API answered 500: {response.text[:300]}")

    def _wrong(self, kind: str, sentence: str) -> None:
        self.books.wrong.append((kind, sentence))


def _as_answer(body: Json) -> CommitAnswer:
    return CommitAnswer(
        request_id="",
        state="done",
        revision=body.get("revision"),
        steps=[],
        error=None,
        confirm_expires_at=None,
    )
