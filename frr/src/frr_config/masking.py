"""Secrets in configuration lines, hidden from people."""

from __future__ import annotations

import re

from frr_config.types import MASK

_SECRET = re.compile(
    r"^(?P<before>\s*(?:no )?(?:"
    r"neighbor \S+ password|"
    r"ip ospf authentication-key|"
    r"ip ospf message-digest-key \d+ md5|"
    r"area \S+ virtual-link \S+ .*?(?:authentication-key|md5)|"
    r"(?:enable )?password(?: 8)?|"
    r"key-string"
    r")) (?P<secret>\S.*)$"
)


def mask_line(line: str) -> str:
    """The line with its secret, if it has one, replaced by ``********``."""
    match = _SECRET.match(line)
    return line if match is None else f"{match['before']} {MASK}"


def secret_of(line: str) -> str | None:
    """The secret a line holds, or None."""
    match = _SECRET.match(line)
    return None if match is None else match["secret"]


def has_secret(line: str) -> bool:
    """True where a line holds a secret."""
    return _SECRET.match(line) is not None
