"""Edits of the running document: the agent applies them to its own copy, so that no caller reads it first."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Collection, Mapping
from typing import Any

from appliance.agent.requests import CheckBody, EditCommitBody, EditPlanBody
from appliance.engine.engine import Engine
from appliance.engine.own_path import Caller
from appliance.engine.records import CommitRequest, CommitResult, Edited
from appliance.errors import MillraceError, Stale, ValidationFailed
from appliance.state.configuration import CheckedDocument, EditPlan

_ATTEMPTS = 5
"""How often an edit is made anew when another commit came first."""


def require_match(engine: Engine, digests: Collection[str] | None) -> None:
    """Raise Stale unless the running document has one of these digests; None asks for none."""
    running = engine.running_digest
    if digests is not None and running not in digests:
        raise stale(running)


def stale(running: str) -> Stale:
    """The error of a request that was made for another document."""
    return Stale("the running document is not the one that the request names", running)


def plan(engine: Engine, asked: EditPlanBody) -> EditPlan:
    """What a commit of the edit would do now.

    Raises Stale, NotFound, BackendUnavailable, and ValidationFailed where the result does not read.
    """
    caller = Caller.at(asked.caller_address)
    while True:
        edited = engine.edited(asked.edit)
        if asked.match is not None and edited.base_digest not in asked.match:
            raise stale(edited.base_digest)
        try:
            found = engine.preview(edited.document, caller)
        except ValidationFailed as error:
            return EditPlan(base_revision=edited.base_revision, diff=edited.diff, problems=error.problems)
        if found.base_revision == edited.base_revision:
            return EditPlan(base_revision=found.base_revision, plan=found.to_json())
        # Another commit came between the two.


def check(engine: Engine, asked: CheckBody) -> CheckedDocument:
    """An edited document, sealed if need be, what would stop its commit, and what runs.

    Raises ValidationFailed where a secret cannot be sealed.
    """
    sealed = engine.seal(asked.document) if asked.seal else asked.document
    its_digest = engine.digest_of(sealed)
    try:
        problems = engine.validate(sealed)
    except MillraceError:
        # A data plane that is down at the moment prevents no edit.
        problems = []
    return CheckedDocument.model_construct(
        document=sealed if asked.seal else None,
        digest=its_digest,
        problems=tuple(problems),
        running=engine.running_document(asked.known),
    )


class EditCommit:
    """The commit of an edit. If another commit came first, the edit is made anew on the newer document,
    unless the caller named the document it is for, or already has an answer.

    A repeated request makes no edit: the edit may have been made by now.
    """

    def __init__(self, engine: Engine, asked: EditCommitBody) -> None:
        """Makes the edit. Raises Stale, NotFound, and ValidationFailed where the result does not read."""
        self._engine, self._asked = engine, asked
        self._left = _ATTEMPTS if asked.match is None else 1
        """Attempts, including the present one."""
        self._lock = threading.Lock()
        self._attempt = 0
        self.request_id = asked.request_id
        """Of the last attempt."""
        self._before = self._made_before()
        self.edited = self._edited() if self._before is None else Edited(0, "", {}, ())
        """The document of the last attempt."""

    def run(self) -> CommitResult:
        """Commit it; see Engine.commit."""
        if self._before is not None:
            return self._before
        while True:
            result, base = self._once(), self.edited.base_revision
            refused = result.error is not None and result.error.kind == "conflict"
            if not refused or self._left <= 1 or self._engine.revision == base:
                return result
            edited = self._edited()
            with self._lock:
                if self._left <= 1:
                    return result
                self._left -= 1
                self.edited = edited
                self._attempt += 1
                self.request_id = self._id_of(self._attempt)

    def answered(self) -> str:
        """The caller gets the request id, which this returns: no further attempt is made."""
        with self._lock:
            self._left = 0
            return self.request_id

    def to_json(self, result: dict[str, Any]) -> dict[str, Any]:
        """The answer of ``POST /v1/edits/commit``."""
        diff = [vars(change) for change in self.edited.diff]
        return {"base_revision": self.edited.base_revision, "diff": diff, "result": result}

    def _edited(self) -> Edited:
        edited = self._engine.edited(self._asked.edit)
        if self._asked.match is not None and edited.base_digest not in self._asked.match:
            raise stale(edited.base_digest)
        return edited

    def _id_of(self, attempt: int) -> str:
        """The request id of an attempt: the same for every repetition of the request."""
        if attempt == 0:
            return self._asked.request_id
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self._asked.request_id} attempt {attempt}"))

    def _made_before(self) -> CommitResult | None:
        """The result of the last attempt begun by an earlier occurrence of the same request.

        Raises Conflict when its id was used for another one, ValidationFailed when it is not an id.
        """
        result = None
        for attempt in range(_ATTEMPTS):
            request_id = self._id_of(attempt)
            known = self._engine.result_of(self._request(request_id, {}, None))
            if known is None:
                break
            result, self.request_id = known, request_id
        return result

    def _once(self) -> CommitResult:
        edited = self.edited
        return self._engine.commit(self._request(self.request_id, edited.document, edited.base_revision))

    def _request(
        self, request_id: str, document: Mapping[str, Any], base_revision: int | None
    ) -> CommitRequest:
        options = self._asked.asked_as(request_id)
        return CommitRequest(document, options, base_revision, self._asked.edit)
