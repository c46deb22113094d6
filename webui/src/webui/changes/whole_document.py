"""Replaces the content of a change set by a whole document from a file or a paste."""

from __future__ import annotations

from typing import Any

from appliance.config.load import MAX_PROBLEMS, parse_json
from appliance.config.secrets_in import masked, secrets_of, unmask
from appliance.errors import Problem, ValidationFailed
from webui.accounts.actor import Actor
from webui.changes import documents, running, services
from webui.changes.models import ChangeSet

_OTHER_SECRET = (
    "is masked, and your changes have another secret here than what runs: give the secret itself, "
    "or discard your changes first"
)
_COMMANDS = (
    "is made of set commands: paste those into configure mode of the command line; "
    "a JSON document is read here"
)


def read_text(text: str | bytes, most_values: int) -> Any:
    """The JSON of a text, or ValidationFailed with the line and column, or with the reason it is not read
    at all.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValidationFailed([Problem("", f"is not UTF-8 text: see byte {error.start + 1}")]) from None
    text = text.removeprefix("\ufeff").rstrip()
    if not text:
        raise ValidationFailed([Problem("", "is empty: choose a file, or paste a document")])
    if _has_commands(text):
        raise ValidationFailed([Problem("", _COMMANDS)])
    return parse_json(text, most_values)


def _has_commands(text: str) -> bool:
    """Whether the first line that is not a comment is a command."""
    lines = (line.split() for line in text.splitlines() if not line.lstrip().startswith("#"))
    return next((words[0] for words in lines if words), "") in ("configure", "delete", "set")


def replace_by(actor: Actor, change: ChangeSet, document: Any) -> ChangeSet:
    """Make `document` the candidate, in place of everything collected in the change set.

    A masked secret keeps the value in the change set, which is the running one unless it was changed. Where
    the two differ, it is unknown which is meant, and the secret is refused by name. Raises ValidationFailed
    with pointers, Conflict.
    """
    documents.check_depth(document)
    if isinstance(document, dict):
        sealed = running.now().sealed
        wanted, runs = secrets_of(change.document), secrets_of(sealed)
        unsure = [
            place
            for place in masked(document)
            if place in wanted and place in runs and wanted[place] != runs[place]
        ]
        if unsure:
            raise ValidationFailed([Problem(place, _OTHER_SECRET) for place in unsure[:MAX_PROBLEMS]])
        document = unmask(document, sealed)
    return services.replace_document(actor, change, document)
