"""The candidate: the document being edited in ``configure`` mode. It holds state, and does no I/O."""

from __future__ import annotations

from typing import Any

from appliance.cli.errors import CommandError
from appliance.cli.words import Place, assignments, place, value, value_at
from appliance.config import schema
from appliance.config.diff import Change, diff_documents
from appliance.config.merge import MergeConflict, Side, merge, take_up
from appliance.config.pointer import delete, exists, join, put
from appliance.config.secrets_in import mask

Document = dict[str, Any]


class Candidate:
    """A document, and the running one it started from. Secrets in it are sealed, and masked when shown."""

    def __init__(self, running: Document, revision: int) -> None:
        self.running = running
        self.document = running
        self.revision = revision
        self.at: tuple[str, ...] = ()
        """The level that ``edit`` moved to."""

    @property
    def changed(self) -> bool:
        """Whether it differs from the running document."""
        return bool(self.changes())

    def changes(self) -> list[Change]:
        """What a commit would change, secrets masked."""
        return diff_documents(self.running, self.document)

    def set(self, words: list[str]) -> None:
        """``set WORDS``, in full or not at all. Raises CommandError."""
        document = self.document
        for assignment in assignments(self.at, words, document):
            if not assignment.append:
                document = put(document, assignment.pointer, assignment.value)
                continue
            known = value_at(document, assignment.pointer) or []
            if assignment.value not in known:
                document = put(document, assignment.pointer, [*known, assignment.value])
        self.document = document

    def delete(self, words: list[str]) -> None:
        """``delete WORDS``: a setting, an entry, or the element with this value. Raises CommandError."""
        tokens = (*self.at, *words)
        if not words:
            raise CommandError("delete what?")
        if exists(self.document, join(tokens)):
            self.document = self._without(tokens)
            return
        parent = value_at(self.document, join(tokens[:-1]))
        if isinstance(parent, list):
            item = schema.resolved(place(tokens[:-1], self.document).node["items"])
            wanted = value(item, tokens[-1], tokens[-2])
            if wanted in parent:
                self.document = self._without((*tokens[:-1], str(parent.index(wanted))))
                return
        raise CommandError(f"there is no {' '.join(words)}")

    def _without(self, tokens: tuple[str, ...]) -> Document:
        """The document without this, and without the lists and mappings above it that become empty."""
        document: Document = delete(self.document, join(tokens))
        for length in range(len(tokens) - 1, 0, -1):
            above = place(tokens[:length], document)
            if value_at(document, above.pointer) in ({}, []) and _may_go(above):
                document = delete(document, above.pointer)
            else:
                break
        return document

    def edit(self, words: list[str]) -> None:
        """``edit WORDS``: move to this level. Raises CommandError if there are no settings below it."""
        where = place((*self.at, *words), self.document)
        if not where.is_object:
            raise CommandError(f"{' '.join(words)} is a value: use set")
        self.at = where.tokens

    def shown(self, words: list[str]) -> Any:
        """The settings below this level, with secrets masked. Raises CommandError if there are none."""
        tokens = (*self.at, *words)
        pointer = join(tokens)
        if not exists(self.document, pointer):
            if not words:
                return {}
            place(tokens, self.document)
            raise CommandError(f"{' '.join(words)} is not set")
        return mask(value_at(self.document, pointer), pointer)

    def load(self, document: Document) -> None:
        """Replace the candidate with another document."""
        self.document = document

    def update(self, running: Document, revision: int, keep: Side | None) -> tuple[MergeConflict, ...]:
        """Apply the candidate's changes to the document that is running now.

        ``keep`` says which side wins where both changed the same place. Without it such places are returned,
        and nothing is done.
        """
        ours, theirs = (running, self.document) if keep == "theirs" else (self.document, running)
        merged = merge(self.running, ours, theirs)
        if merged.conflicts and keep is None:
            return merged.conflicts
        self.running, self.document, self.revision = running, merged.document, revision
        return ()

    def take_up(self, before: Document, after: Document, keep: Side | None) -> tuple[MergeConflict, ...]:
        """Apply what leads from one document to another. ``keep`` as in ``update``: "ours" is here."""
        merged = take_up(before, after, self.document, keep)
        if not merged.conflicts:
            self.document = merged.document
        return merged.conflicts

    def discard(self) -> None:
        """Back to the running document."""
        self.document = self.running


def _may_go(above: Place) -> bool:
    """Whether empty means the same as absent: true for lists and named mappings, not for a model."""
    return above.is_list or schema.entry_of(above.node) is not None
