"""From a submitted document to a typed one with clear secrets, and its sealed canonical form."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from appliance.config import pointer as pointers
from appliance.config import sections
from appliance.config.document import RouterConfig
from appliance.config.dump import Texts, digest_of, dump, part_texts
from appliance.config.load import parse_document
from appliance.config.migrate import migrate
from appliance.config.secrets_in import replaced
from appliance.config.written import Written
from appliance.engine import entries
from appliance.errors import NotFound, Problem, ValidationFailed
from appliance.secrets import SealError, SecretBox
from frr_config.types import MASK

_REMEMBERED = 4
Sealed = dict[str, Any]
"""A canonical document whose secrets are sealed."""


@dataclass(frozen=True)
class Prepared:
    """A document that was read without problems."""

    config: RouterConfig
    """Typed, with its secrets in clear: kept in memory only."""
    sealed: Sealed
    digest: str
    texts: Texts = field(repr=False)
    """The texts of the parts of ``sealed``."""
    lost: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By pointer, sealed texts that this router's key does not open; ``config`` leaves them out."""


class Documents:
    """Reads documents with the secrets of one router."""

    def __init__(self, box: SecretBox) -> None:
        self._box = box
        self._known: dict[tuple[str, str], Prepared] = {}
        self._lock = threading.Lock()
        self._read: tuple[Mapping[str, Any], Texts] | None = None
        """The document whose texts were requested last and that is not prepared yet."""
        self._submitted, self._stored = Written(), Written()

    def seal(self, document: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
        """``document`` with plain secrets sealed and masked ones taken from ``base``, otherwise unchanged.

        A secret that ``base`` holds at the same place keeps its sealed text: sealing twice is no change.
        Raises ValidationFailed for a mask that hides nothing and for text that another router sealed.
        """
        problems: list[Problem] = []

        def one(pointer: str, value: str) -> str:
            known = text_at(base, pointer)
            if value == MASK:
                if known is None:
                    problems.append(
                        Problem(pointer, "is masked, and the running document has no secret here")
                    )
                return known or value
            if value == known:
                return value
            try:
                return self._kept(self._box.unseal(value), known, value)
            except SealError as error:
                problems.append(Problem(pointer, str(error)))
                return value

        sealed = replaced(document, one)
        if problems:
            raise ValidationFailed(problems)
        return dict(sealed)

    def texts(self, document: Mapping[str, Any], base: Prepared) -> Texts | None:
        """The texts of a submitted document's parts; ``prepare`` takes them. None if it is not JSON."""
        found = sections.texts(document, base.sealed, base.texts, self._submitted)
        self._read = None if found is None else (document, found)
        return found

    def prepare(self, document: Mapping[str, Any], base: Prepared) -> Prepared:
        """The typed and the stored form of a document. Raises ValidationFailed.

        Parts equal to those of ``base`` are taken from there. The last few answers are remembered, since a
        commit mostly follows the preview of the same document.
        """
        whole = migrate(dict(document))
        like: tuple[Mapping[str, Any], Texts] = (base.sealed, base.texts)
        if (read := self._read) is not None and read[0] is document:
            like, self._read = read, None
        found = sections.texts(whole, *like, self._submitted)
        if found is None:
            return self._prepare(whole, {}, "", base)
        asked = (digest_of(found), base.digest)
        known = self._known.get(asked)
        if known is None:
            known = self._prepare(whole, found, asked[0], base)
            with self._lock:
                self._known[asked] = known
                while len(self._known) > _REMEMBERED:
                    del self._known[next(iter(self._known))]
        return known

    def _prepare(self, whole: Mapping[str, Any], found: Texts, its_digest: str, base: Prepared) -> Prepared:
        same = {part for part, text in found.items() if base.texts.get(part) == text}
        submitted = self.seal(sections.without(whole, same), base.sealed)
        kept = entries.kept(submitted, base.sealed) if found else {}
        read = parse_document(entries.without(submitted, kept), unseal=self._box.unseal)
        changed = entries.merge_config(read, base.config, kept)
        if changed is None:
            kept, changed = {}, (read := parse_document(submitted, unseal=self._box.unseal))

        def one(pointer: str, clear: str) -> str:
            return self._kept(clear, text_at(base.sealed, pointer), text_at(submitted, pointer))

        stored = replaced(dump(read, "reveal"), one)
        entries.merge_plain(stored, base.sealed, kept)
        sealed: Sealed = sections.merge_plain(stored, base.sealed, same)
        config = sections.merge_config(changed, base.config, same)
        texts = part_texts(sealed, base.sealed, base.texts, self._stored)
        return Prepared(config, sealed, its_digest if texts == found else digest_of(texts), texts)

    def read(self, sealed: Sealed, known_digest: str) -> Prepared:
        """Read a stored document. A secret that the key does not open is left out: the rest is worth running.

        Raises ValidationFailed.
        """
        lost: dict[str, str] = {}

        def one(pointer: str, value: str) -> str | None:
            try:
                self._box.unseal(value)
            except SealError:
                lost[pointer] = value
                return None
            return value

        readable = replaced(sealed, one)
        config = parse_document(readable, unseal=self._box.unseal)
        return Prepared(config, sealed, known_digest, part_texts(sealed), lost)

    def _kept(self, clear: str, *candidates: str | None) -> str:
        """The first candidate that is the sealed form of this secret, else newly sealed text."""
        for text in candidates:
            if text is not None and text != clear and self._opens_to(text, clear):
                return text
        return self._box.seal(clear)

    def _opens_to(self, text: str, clear: str) -> bool:
        try:
            return self._box.unseal(text) == clear
        except SealError:
            return False


def text_at(document: Mapping[str, Any], pointer: str) -> str | None:
    """The text at a place in a plain document; None if there is none."""
    try:
        value = pointers.resolve(document, pointer)
    except NotFound:
        return None
    return value if isinstance(value, str) else None
