"""What was made of something lately, so that it need not be made again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """At most twice ``most`` results. Those that nobody asked for again are forgotten. Not thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._young: dict[Hashable, T] = {}
        self._old: dict[Hashable, T] = {}

    def of(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result for this key; ``make`` is called for one that is not known."""
        if key in self._young:
            return self._young[key]
        found = self._old[key] if key in self._old else make()
        if len(self._young) >= self._most:
            self._old, self._young = self._young, {}
        self._young[key] = found
        return found
