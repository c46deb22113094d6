"""Edits of whatever runs: the agent makes them in its own document, so that no caller reads it first."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Collection
from typing import Any

from appliance.agent.requests import CheckBody, EditCommitBody, EditPlanBody
from appliance.engine.engine import Engine
from appliance.engine.own_path import Caller
from appliance.engine.records import CommitRequest, CommitResult, Edited
from appliance.errors import MillraceError, Stale, ValidationFailed
from appliance.state.configuration import CheckedDocument, EditPlan

_ATTEMPTS = 5
"""Times an edit is made anew when another commit came first."""


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
    caller = None if asked.caller_address is None else Caller(asked.caller_address)
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
        # A data plane that is away just now keeps nobody from editing.
        problems = []
    return CheckedDocument.model_construct(
        document=sealed if asked.seal else None,
        digest=its_digest,
        problems=tuple(problems),
        running=engine.running_document(asked.known),
    )


class EditCommit:
    """The commit of an edit. Made anew on the newer document when another commit came first, unless the
    caller named the document that it is for, or has been answered already.
    """

    def __init__(self, engine: Engine, asked: EditCommitBody) -> None:
        """Makes the edit. Raises Stale, NotFound, and ValidationFailed where the result does not read."""
        self._engine, self._asked = engine, asked
        self._left = _ATTEMPTS if asked.match is None else 1
        """Attempts, the one that is made included."""
        self._lock = threading.Lock()
        self.request_id = asked.request_id or uuid.uuid4().hex
        """Of the last attempt."""
        self.edited = self._edited()
        """The document of the last attempt."""

    def run(self) -> CommitResult:
        """Commit it; see Engine.commit."""
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
                self.request_id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.request_id} {base}"))

    def answered(self) -> str:
        """The caller is told the request id, which this returns: no further attempt is made."""
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

    def _once(self) -> CommitResult:
        asked, edited = self._asked, self.edited
        caller = None if asked.caller_address is None else Caller(asked.caller_address)
        return self._engine.commit(
            CommitRequest(
                edited.document,
                asked.author,
                asked.comment,
                edited.base_revision,
                asked.confirm_s,
                asked.watch_s,
                self.request_id,
                caller,
                asked.edit,
            )
        )
