"""The parts of nftables' JSON rules."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def add(item: Json) -> Json:
    """The command that adds ``item``."""
    return {"add": item}


def match(left: Json, right: Any, op: str = "==") -> Json:
    """A comparison."""
    return {"match": {"op": op, "left": left, "right": right}}


def meta(key: str) -> Json:
    """What the kernel knows in addition to the packet's content."""
    return {"meta": {"key": key}}


def payload(protocol: str, field: str) -> Json:
    """A field of a header."""
    return {"payload": {"protocol": protocol, "field": field}}


def prefix(text: str) -> Json:
    """A prefix as a value."""
    address, _, length = text.partition("/")
    return {"prefix": {"addr": address, "len": int(length)}}
