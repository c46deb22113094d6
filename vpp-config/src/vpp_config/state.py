"""A whole configuration of VPP: objects by key, and its form in JSON.

The JSON form is ``{"objects": [{"kind": ..., <the object's fields>}, ...]}``, addresses and prefixes as
strings, ranges as two-element lists; an observed state may also have ``"leftovers"``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from vpp_config.errors import StateFormatError
from vpp_config.leftover import Leftover
from vpp_config.objects import KINDS, Interface, VppObject


@dataclass(frozen=True, eq=False)
class VppState(Mapping[str, VppObject]):
    """Objects by key. Immutable, comparable, hashable; make one with :meth:`of`."""

    _objects: Mapping[str, VppObject]
    leftovers: tuple[Leftover, ...] = ()

    @classmethod
    def of(cls, objects: Iterable[VppObject], leftovers: Iterable[Leftover] = ()) -> VppState:
        """Raises ``ValueError`` for two objects with one key, or two interfaces with one name."""
        by_key: dict[str, VppObject] = {}
        provided: set[str] = set()
        for item in objects:
            if item.key in by_key or item.provides in provided:
                raise ValueError(f"two objects are {item.label()}")
            by_key[item.key] = item
            provided.add(item.provides)
        return cls(by_key, tuple(leftovers))

    def __getitem__(self, key: str) -> VppObject:
        return self._objects[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._objects)

    def __len__(self) -> int:
        return len(self._objects)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VppState):
            return NotImplemented
        return self._objects == other._objects and self.leftovers == other.leftovers

    def __hash__(self) -> int:
        return hash((frozenset(self._objects.values()), self.leftovers))

    def interfaces(self) -> dict[str, Interface]:
        """The interfaces by name."""
        return {item.name: item for item in self.values() if isinstance(item, Interface)}

    def to_json(self) -> dict[str, Any]:
        """Values that ``json.dumps`` accepts."""
        document: dict[str, Any] = {
            "objects": [{"kind": item.kind, **_ADAPTERS[type(item)].dump_python(item, mode="json")}
                        for item in self.values()]
        }  # fmt: skip
        if self.leftovers:
            document["leftovers"] = [
                _ADAPTERS[Leftover].dump_python(item, mode="json") for item in self.leftovers
            ]
        return document

    @classmethod
    def from_json(cls, document: object) -> VppState:
        """The inverse of :meth:`to_json`. Raises :class:`StateFormatError`."""
        if not isinstance(document, dict):
            raise StateFormatError("", "not an object")
        if unknown := document.keys() - {"objects", "leftovers"}:
            raise StateFormatError(f"/{min(unknown)}", "not known here")
        rows = document.get("objects")
        if not isinstance(rows, list):
            raise StateFormatError("/objects", "not a list")
        objects = [_read_object(row, f"/objects/{position}") for position, row in enumerate(rows)]
        leftovers = [
            _read(Leftover, row, f"/leftovers/{position}")
            for position, row in enumerate(document.get("leftovers", ()))
        ]
        try:
            return cls.of(objects, leftovers)
        except ValueError as error:
            raise StateFormatError("/objects", str(error)) from None


_BY_KIND = {kind.kind: kind for kind in KINDS}


_ADAPTERS: dict[type[object], TypeAdapter[Any]] = {cls: TypeAdapter(cls) for cls in (*KINDS, Leftover)}


def _read_object(row: object, pointer: str) -> VppObject:
    if not isinstance(row, dict):
        raise StateFormatError(pointer, "not an object")
    kind = row.get("kind")
    if not isinstance(kind, str) or kind not in _BY_KIND:
        raise StateFormatError(f"{pointer}/kind", f"is not one of {', '.join(_BY_KIND)}")
    item: VppObject = _read(
        _BY_KIND[kind], {name: value for name, value in row.items() if name != "kind"}, pointer
    )
    return item


def _read(cls: type[Any], row: object, pointer: str) -> Any:
    try:
        return _ADAPTERS[cls].validate_python(row)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        # The branches of a union add their own names to the location: only the parts that the document has
        # are kept.
        path = "".join(
            f"/{part}" for part in first["loc"] if isinstance(part, int) or str(part).isidentifier()
        )
        raise StateFormatError(pointer + path, first["msg"].removeprefix("Value error, ")) from None
