"""Functions on JSON pointers (RFC 6901) for pages, on top of appliance.config.pointer."""

from __future__ import annotations

from typing import Any

from appliance.config import pointer as document_pointer
from appliance.config.pointer import split
from appliance.errors import NotFound

MISSING: Any = object()
"""The result of `get` where the document has nothing."""


def join(*tokens: str | int) -> str:
    """The pointer of these tokens, escaped."""
    return document_pointer.join(tokens)


def parent(pointer: str) -> str:
    """The pointer without its last token."""
    return document_pointer.join(split(pointer)[:-1])


def last(pointer: str) -> str:
    """The last token, unescaped; empty for the whole document."""
    tokens = split(pointer)
    return tokens[-1] if tokens else ""


def get(document: Any, pointer: str, default: Any = MISSING) -> Any:
    """The value at the pointer, or `default`."""
    try:
        return document_pointer.resolve(document, pointer)
    except NotFound:
        return default
