"""Secrets in configuration lines, hidden from people."""

from __future__ import annotations

import re

from frr_config.protocols import PROTOCOLS
from frr_config.types import MASK

_OTHERS = (
    r"area \S+ virtual-link \S+ .*?(?:authentication-key|md5)",
    r"(?:enable )?password(?: 8)?",
    "key-string",
)
"""For lines that no document produces but that somebody may have typed."""
_OURS = (
    form.secret
    for protocol in PROTOCOLS
    for section in protocol.sections
    for form in section.forms
    if form.secret
)
_SECRET = re.compile(
    rf"^(?P<before>\s*(?:no )?(?:{'|'.join(dict.fromkeys((*_OURS, *_OTHERS)))})) (?P<secret>\S.*)$"
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
