"""A whole document, chosen by a word: the running one, the user's candidate, or a revision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from appliance.config.diff import Change, diff_documents
from appliance.config.merge import merge
from appliance.config.secrets_in import mask
from appliance.errors import NotFound
from webui.accounts.models import User
from webui.agent import agent
from webui.changes import running
from webui.changes.services import current

RUNNING, CANDIDATE = "running", "candidate"
WORDS = r"^(running|candidate|0*[1-9][0-9]{0,8})$"
"""The words that `choose` accepts."""


@dataclass(frozen=True)
class Chosen:
    """A document, with its own revision or the one that it would change; secrets masked."""

    word: str
    revision: int
    document: dict[str, Any]
    sealed: dict[str, Any] = field(repr=False)
    """Only for comparing: it shows whether a secret differs."""

    @property
    def title(self) -> str:
        """Its title on a page."""
        if self.word == CANDIDATE:
            return f"your changes on revision {self.revision}"
        return f"revision {self.revision}" + (", which runs" if self.word == RUNNING else "")

    @property
    def file_name(self) -> str:
        """A name for it as a file, without an ending: hostname and revision."""
        system = self.document.get("system") or {}
        changed = "-changed" if self.word == CANDIDATE else ""
        return f"{system.get('hostname') or 'millrace'}-revision-{self.revision}{changed}"


@dataclass(frozen=True)
class Compared:
    """Two documents, and the changes from one to the other; secrets masked."""

    before: Chosen
    after: Chosen
    changes: tuple[Change, ...]


def choose(user: User, word: str) -> Chosen:
    """The document that `word` means to this user: ``running``, ``candidate``, or a revision's number.

    The candidate is the open change set on what runs now, as a commit would have it; with conflicts it is
    the change set as it stands. Raises NotFound, AgentUnavailable.
    """
    if word == CANDIDATE:
        return _candidate(user)
    if word == RUNNING:
        now = running.now()
        return Chosen(word, now.revision, now.document, now.sealed)
    number = int(word) if word.isascii() and word.isdecimal() and len(word) < 11 else 0
    if not number:
        raise NotFound(f"There is no document {word!r:.40}: give running, candidate or a revision's number.")
    return _chosen(str(number), number, agent().revision(number)["document"])


def compare(user: User, before: str, after: str) -> Compared:
    """The changes from one document to the other. Raises as `choose` does."""
    first, second = choose(user, before), choose(user, after)
    return Compared(first, second, tuple(diff_documents(first.sealed, second.sealed)))


def _candidate(user: User) -> Chosen:
    change = current(user)
    if change is None or change.is_empty:
        raise NotFound("You have no changes: there is no candidate.")
    now = running.now()
    document, revision = change.document, change.base_revision
    if revision != now.revision:
        merged = merge(change.base_document, change.document, now.sealed)
        if not merged.conflicts:
            document, revision = merged.document, now.revision
    return _chosen(CANDIDATE, revision, document)


def _chosen(word: str, revision: int, sealed: dict[str, Any]) -> Chosen:
    return Chosen(word, revision, mask(sealed), sealed)
