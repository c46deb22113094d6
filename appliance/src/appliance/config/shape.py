"""The document's own structure, read once from its models: which nodes are models, maps, lists or values.

Everything that walks a document without knowing its features (error pointers, canonical order, the CLI's
``set``) walks this tree, so a new feature needs no new walker.
"""

from __future__ import annotations

import types
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from appliance.config.document import RouterConfig


@dataclass(frozen=True)
class Leaf:
    """A value without children."""


@dataclass(frozen=True)
class Items:
    """A list; ``item`` is the shape of each element."""

    item: Shape


@dataclass(frozen=True, eq=False)
class Keyed:
    """A mapping by name, address or number; ``key`` reads one key into its canonical form."""

    key: TypeAdapter[Any]
    value: Shape


@dataclass(frozen=True, eq=False)
class Fields:
    """A model: a fixed set of fields."""

    model: type[BaseModel]
    fields: dict[str, Shape]


@dataclass(frozen=True, eq=False)
class Tagged:
    """One of several models; the value of ``tag`` says which."""

    tag: str
    choices: dict[str, Fields]


Shape = Leaf | Items | Keyed | Fields | Tagged


def _discriminator(metadata: tuple[Any, ...]) -> str | None:
    for entry in metadata:
        if isinstance(entry, FieldInfo) and isinstance(entry.discriminator, str):
            return entry.discriminator
    return None


def _of_annotation(annotation: Any, tag: str | None = None) -> Shape:
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        return _of_annotation(inner, tag or _discriminator(tuple(metadata)))
    if origin in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        if tag is not None:
            return _tagged(tag, members)
        return _of_annotation(members[0]) if len(members) == 1 else Leaf()
    if origin is dict:
        key, value = get_args(annotation)
        return Keyed(TypeAdapter(key), _of_annotation(value))
    if origin in (tuple, list):
        return Items(_of_annotation(get_args(annotation)[0]))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return of_model(annotation)
    return Leaf()


def _tagged(tag: str, members: list[Any]) -> Tagged:
    choices: dict[str, Fields] = {}
    for member in members:
        literal = member.model_fields[tag].annotation
        assert get_origin(literal) is Literal
        for value in get_args(literal):
            choices[value] = of_model(member)
    return Tagged(tag, choices)


@cache
def of_model(model: type[BaseModel]) -> Fields:
    """Shape of a model and everything below it."""
    fields: dict[str, Shape] = {}
    for name, info in model.model_fields.items():
        tag = (
            info.discriminator
            if isinstance(info.discriminator, str)
            else _discriminator(tuple(info.metadata))
        )
        fields[name] = _of_annotation(info.annotation, tag)
    return Fields(model, fields)


def document() -> Fields:
    """Shape of a whole router configuration."""
    return of_model(RouterConfig)
