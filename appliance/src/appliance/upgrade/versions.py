"""Which of two versions is older. Pure."""

from __future__ import annotations

import re

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_AFTER = re.compile(r"(?:[-+.~]?)(\d+)")
_BEFORE = re.compile(r"[-.~]?(?:dev|a|alpha|b|beta|c|rc|pre)", re.IGNORECASE)


def is_older(version: str, built_s: int | None, than: str, than_built_s: int | None) -> bool:
    """Whether ``version`` comes before ``than``.

    Numbers decide, then whether one is a release candidate of the other; versions equal in both, such
    as a rebuild, are distinguished by the commit time of their sources, seconds since 1970, if known.
    """
    one, other = _key(version), _key(than)
    if one != other:
        return one < other
    return built_s is not None and than_built_s is not None and built_s < than_built_s


def _key(version: str) -> tuple[tuple[int, ...], int, int]:
    """Numbers; 0 for what comes before that release, else 1; a number that counts on from there."""
    match = _NUMBERS.match(version)
    if match is None:
        return (), 1, 0
    numbers = [int(number) for number in match[0].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    rest = version[match.end() :]
    before = rest.startswith("~") or _BEFORE.match(rest) is not None
    counted = re.search(r"\d+", rest) if before else _AFTER.match(rest)
    return tuple(numbers), 0 if before else 1, int(counted[counted.re.groups]) if counted else 0
