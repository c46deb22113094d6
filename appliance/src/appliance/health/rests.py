"""When each check is due again: a slow reading is made less often, and delays no other check."""

from __future__ import annotations

from collections.abc import Iterable

_AT_REST = 19
"""After a reading, the pause is this many times its duration: a twentieth of a CPU at most."""
_LONGEST_REST_S = 60.0


def rest_after(took_s: float) -> float:
    """Seconds to rest after work of this many seconds."""
    return min(took_s * _AT_REST, _LONGEST_REST_S)


class Rests:
    """The checks at rest. Times are those of a clock that never goes back."""

    def __init__(self) -> None:
        self._until_s: dict[str, float] = {}

    def read(self, name: str, took_s: float, now_s: float) -> None:
        """Note that the check has been read, and how long it took."""
        self._until_s[name] = now_s + rest_after(took_s)

    def at_rest(self, names: Iterable[str], now_s: float) -> set[str]:
        """The checks not due yet. A check that could not be read is due at once."""
        return {name for name in names if self._until_s.get(name, now_s) > now_s}

    def forget(self, names: Iterable[str]) -> None:
        """They are due as soon as there is something to check again."""
        for name in names:
            self._until_s.pop(name, None)
