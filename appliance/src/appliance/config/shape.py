"""The document's own structure, read once from its models: which nodes are models, maps, lists or values.

This is the only walk over the models. Code that walks a document without knowing its features (error
pointers, canonical order, secrets, references) follows this tree, so a new feature needs no new walker.
"""

from __future__ import annotations

import types
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr, TypeAdapter
from pydantic.fields import FieldInfo

from appliance.config.document import RouterConfig
from frr_config.references import RefersTo


@dataclass(frozen=True)
class Reference:
    """A text that names another object, as the model says it."""

    to: RefersTo
    if_taken_by: TypeAdapter[Any] | None = None
    """Set if the value may be something other than a name: it is a name if this accepts it."""

    def names(self, value: Any) -> bool:
        """Whether this value is a name of such an object."""
        if value in self.to.words:
            return False
        if self.if_taken_by is None:
            return value is not None
        try:
            self.if_taken_by.validate_python(value)
        except ValueError:
            return False
        return True


@dataclass(frozen=True, eq=False)
class Leaf:
    """A value without children."""

    secret: bool = False
    reference: Reference | None = None


@dataclass(frozen=True)
class Items:
    """A list; ``item`` is the shape of each element."""

    item: Shape


@dataclass(frozen=True, eq=False)
class Keyed:
    """A mapping by name, address or number; ``key`` reads one key into its canonical form."""

    key: TypeAdapter[Any]
    value: Shape
    key_reference: Reference | None = None


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


def _of_annotation(annotation: Any, metadata: tuple[Any, ...] = (), tag: str | None = None) -> Shape:
    """``metadata`` is that of the annotation; ``tag`` is the field that distinguishes a union's kinds."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *beside = get_args(annotation)
        return _of_annotation(inner, (*beside, *metadata), tag)
    tag = tag or _discriminator(metadata)
    if origin in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        if tag is not None:
            return _tagged(tag, members)
        return _of_annotation(members[0]) if len(members) == 1 else _alternatives(members)
    if origin is dict:
        key, value = get_args(annotation)
        of_key = _of_annotation(key)
        return Keyed(
            TypeAdapter(key), _of_annotation(value), of_key.reference if isinstance(of_key, Leaf) else None
        )
    if origin in (tuple, list):
        return Items(_of_annotation(get_args(annotation)[0]))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return of_model(annotation)
    to = next((entry for entry in metadata if isinstance(entry, RefersTo)), None)
    secret = isinstance(annotation, type) and issubclass(annotation, SecretStr)
    return Leaf(secret, None if to is None else Reference(to))


def _discriminator(metadata: tuple[Any, ...]) -> str | None:
    for entry in metadata:
        if isinstance(entry, FieldInfo) and isinstance(entry.discriminator, str):
            return entry.discriminator
    return None


def _alternatives(members: list[Any]) -> Leaf:
    """One of several values: a secret if any is; a reference if the one that refers accepts the value."""
    secret, reference = False, None
    for member in members:
        shape = _of_annotation(member)
        assert isinstance(shape, Leaf), f"a union of models needs a discriminator: {member}"
        secret = secret or shape.secret
        if shape.reference is not None:
            reference = Reference(shape.reference.to, _reading(member))
    return Leaf(secret, reference)


@cache
def _reading(annotation: Any) -> TypeAdapter[Any]:
    """One for each type, so that the same field of two kinds is marked the same."""
    return TypeAdapter(annotation)


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
        tag = info.discriminator if isinstance(info.discriminator, str) else None
        fields[name] = _of_annotation(info.annotation, tuple(info.metadata), tag)
    return Fields(model, fields)


def document() -> Fields:
    """Shape of a whole router configuration."""
    return of_model(RouterConfig)


@cache
def has_maps(shape: Shape) -> bool:
    """Whether there is a mapping by name at this place or below."""
    if isinstance(shape, Keyed):
        return True
    if isinstance(shape, Items):
        return has_maps(shape.item)
    if isinstance(shape, Tagged):
        return any(has_maps(choice) for choice in shape.choices.values())
    return isinstance(shape, Fields) and any(has_maps(field) for field in shape.fields.values())
