"""Which counters somebody asks for: said in a query, kept by a stream, applied to samples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from appliance.errors import Problem, ValidationFailed

INTERFACE_COUNTERS = (
    "rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "rx_drops", "tx_drops", "rx_errors", "tx_errors",
)  # fmt: skip
"""What is counted for each interface."""
SECTIONS = ("workers", "drops")
"""What a sample has besides ``interfaces``."""
CLEARED = "cleared"
"""The section of interfaces whose counters were cleared; it follows the selection of interfaces."""
FIELDS = (*INTERFACE_COUNTERS, *SECTIONS, CLEARED)
MAX_INTERFACES = 64
"""Interfaces that a query may name; without any, all of them are meant."""
_NAME = re.compile(r"[^\s,/]{1,15}")
"""What Linux takes; an interface that is not in the document may have any such name."""


@dataclass(frozen=True)
class Selection:
    """Wanted fields, out of FIELDS, and of which interfaces; None: of all."""

    fields: frozenset[str] = frozenset(FIELDS)
    interfaces: frozenset[str] | None = None

    def of(self, sample: Mapping[str, Any]) -> Mapping[str, Any]:
        """The sample with nothing but what is wanted; an interface that it does not have is left out."""
        if self == EVERYTHING:
            return sample
        part: dict[str, Any] = {"time": sample["time"]}
        if wanted := self.fields.intersection(INTERFACE_COUNTERS):
            known: Mapping[str, Mapping[str, Any]] = sample.get("interfaces", {})
            names = known if self.interfaces is None else self.interfaces & known.keys()
            part["interfaces"] = {
                name: {field: value for field, value in known[name].items() if field in wanted}
                for name in names
            }
        for section in SECTIONS:
            if section in self.fields and section in sample:
                part[section] = sample[section]
        if CLEARED in self.fields and CLEARED in sample:
            cleared: Mapping[str, Any] = sample[CLEARED]
            only = self.interfaces
            part[CLEARED] = {name: one for name, one in cleared.items() if only is None or name in only}
        return part

    def query(self) -> dict[str, str]:
        """As ``fields`` and ``interfaces`` of a query; what is not limited is left out."""
        query = {}
        if self.fields != EVERYTHING.fields:
            query["fields"] = ",".join(sorted(self.fields))
        if self.interfaces is not None:
            query["interfaces"] = ",".join(sorted(self.interfaces))
        return query


EVERYTHING = Selection()


def parse(fields: str | None, interfaces: str | None, known: Iterable[str] = FIELDS) -> Selection:
    """The selection in a query's two comma separated lists. Raises ValidationFailed for what there is not."""
    return Selection(
        EVERYTHING.fields if fields is None else field_names(fields, known), interface_names(interfaces)
    )


def field_names(text: str, known: Iterable[str]) -> frozenset[str]:
    """Names out of `known`. Raises ValidationFailed."""
    known = tuple(known)
    wanted = frozenset(text.split(","))
    if not wanted <= set(known):
        raise ValidationFailed([Problem("/fields", f"must be some of {', '.join(known)}, comma separated")])
    return wanted


def interface_names(text: str | None) -> frozenset[str] | None:
    """Names of interfaces, or None for all. Raises ValidationFailed."""
    if text is None:
        return None
    names = frozenset(text.split(","))
    if len(names) > MAX_INTERFACES or not all(_NAME.fullmatch(name) and name.isprintable() for name in names):
        raise ValidationFailed(
            [Problem("/interfaces", f"must be at most {MAX_INTERFACES} names of interfaces, comma separated")]
        )
    return names
