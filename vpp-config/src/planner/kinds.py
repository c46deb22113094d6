"""The kinds of object of a data plane, found in the files that declare them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any


def kinds_in(package: str, lines: Iterable[Iterable[str]], base: type) -> tuple[type[Any], ...]:
    """The subclass of ``base`` that each of these files of the package declares, in their order.

    Raises ValueError unless every file declares exactly one.
    """
    return tuple(_kind(f"{package}.{file}", base) for line in lines for file in line)


def _kind(file: str, base: type) -> type[Any]:
    found = [
        value
        for value in vars(import_module(file)).values()
        if isinstance(value, type) and issubclass(value, base) and value.__module__ == file
    ]
    if len(found) != 1:
        raise ValueError(f"{file} declares {len(found)} kinds of object, and has to declare one")
    return found[0]
