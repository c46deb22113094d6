"""Redacts secrets from log lines: those the router knows, and any text in the place of a secret."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

from frr_config.types import MASK

_LEAST = 4
"""Characters. A shorter secret would match ordinary words; it is redacted only in the place of a secret."""
_STANDS = re.compile(
    r"(?i)(\bneighbor \S+ password |\bmessage-digest-key \d+ md5 |\bauthentication-key )(?:\d )?(\S+)"
)
"""As in the commands that FRR logs."""


Strike = Callable[[str], str]


class Redaction:
    """The patterns to redact, rebuilt whenever ``secrets`` returns others."""

    def __init__(self, secrets: Callable[[], Iterable[str]]) -> None:
        self._secrets = secrets
        self._known: tuple[frozenset[str], re.Pattern[str] | None] = (frozenset(), None)

    def current(self) -> Strike:
        """A function that redacts the secrets known now."""
        secrets = frozenset(self._secrets())
        if secrets != self._known[0]:
            self._known = secrets, _pattern(secrets)
        pattern = self._known[1]

        def strike(text: str) -> str:
            text = _STANDS.sub(lambda found: f"{found[1]}{MASK}", text)
            return text if pattern is None else pattern.sub(MASK, text)

        return strike


def _pattern(secrets: Iterable[str]) -> re.Pattern[str] | None:
    texts = {secret for secret in secrets if len(secret) >= _LEAST}
    # In their form in a quoted value of logfmt or JSON.
    texts |= {json.dumps(secret)[1:-1] for secret in texts} | {
        json.dumps(secret, ensure_ascii=False)[1:-1] for secret in texts
    }
    longest_first = sorted(texts, key=lambda text: (-len(text), text))
    return re.compile("|".join(map(re.escape, longest_first))) if texts else None
