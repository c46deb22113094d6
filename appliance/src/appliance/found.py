"""Finding what the files of a package declare, so that a new file needs no line in a list."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TypeVar

T = TypeVar("T")


def declared_in(package: str, path: Sequence[str], *kinds: type[T]) -> Iterator[T]:
    """Values of these kinds at the top level of the package's files, by file name and then in their order.

    A file that uses what another one declares yields it too. ``path`` is the package's ``__path__``.
    """
    for name in sorted(found.name for found in pkgutil.iter_modules(path)):
        for value in vars(import_module(f"{package}.{name}")).values():
            if isinstance(value, kinds):
                yield value
