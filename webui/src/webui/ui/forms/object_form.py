"""The form of one object of the document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict

from appliance.config.schema import is_optional as takes_null
from appliance.errors import Problem
from webui.ui.forms.bound import Bound, show
from webui.ui.forms.field import Field, Kind
from webui.ui.forms.long_mappings import apart_as_posted, apart_if_long
from webui.ui.forms.opened_on import NOT_SAID, as_text, own_part, put_together, told, with_theirs
from webui.ui.forms.read_post import read
from webui.ui.forms.read_schema import read_field, read_key
from webui.ui.forms.schema import schema_at
from webui.ui.pointers import join, last, parent
from webui.ui.problem_words import said

KEY = "@key"
"""Name of the input that holds the key of a new object."""


@dataclass
class ObjectForm:
    """A form with the document's values or those that the user posted.

    `key` is set when the object is new in a mapping. `elsewhere` are problems of other objects.
    """

    pointer: str
    root: Bound
    key: Bound | None = None
    elsewhere: tuple[Problem, ...] = ()
    base: Any = NOT_SAID
    """The document's value when the user opened the form, without the parts that have pages of their own."""

    @classmethod
    def showing(cls, pointer: str, value: Any, *, kind: str | None = None) -> ObjectForm:
        """The form of an existing object."""
        root = show(apart_if_long(_fields_of(pointer, value, kind), value), value, "", pointer)
        return cls(pointer, root, base=own_part(root, value))

    @classmethod
    def empty(cls, mapping: str, *, kind: str | None = None) -> ObjectForm:
        """The form of an object to be added to a mapping."""
        pointer = mapping + join("")
        key = Bound(field=_key_of(mapping), name=KEY, pointer=pointer)
        return cls(pointer, show(_fields_of(pointer, None, kind), {}, "", pointer), key)

    @classmethod
    def posted(cls, pointer: str, data: QueryDict, base: Any, *, kind: str | None = None) -> ObjectForm:
        """An existing object's form as the user posted it; `base` is the document's value of the object."""
        field = apart_as_posted(_fields_of(pointer, base, kind), data)
        return cls(pointer, read(field, data, "", pointer, base))

    @classmethod
    def posted_new(cls, mapping: str, data: QueryDict, *, kind: str | None = None) -> ObjectForm:
        """A new object's form as the user posted it."""
        text = data.get(KEY, "").strip()
        pointer = mapping + join(text)
        key = Bound(field=_key_of(mapping), name=KEY, pointer=pointer, text=text, raw=text)
        if not text:
            key.errors.append(f"give the {key.field.title.lower()}")
        return cls(pointer, read(_fields_of(pointer, None, kind), data, "", pointer, None), key)

    @property
    def key_text(self) -> str:
        """The key of a new object, as typed; empty for an existing object."""
        return self.key.text if self.key is not None else ""

    @property
    def value(self) -> Any:
        """The object, as JSON."""
        return self.root.raw

    @property
    def valid(self) -> bool:
        """Whether no problem has been found."""
        return not self.root.has_errors and not (self.key is not None and self.key.errors)

    @property
    def error_count(self) -> int:
        """The number of problems shown next to fields."""
        fields = [*self.root.walk(), *([self.key] if self.key is not None else [])]
        return sum(len(bound.errors) for bound in fields)

    @property
    def base_text(self) -> str:
        """The base of the form, as the page carries it."""
        return as_text(self.base)

    def onto(self, now: Any, running: Any = NOT_SAID) -> Any:
        """`now` with only the changes that the user made since the form was opened.

        A field that somebody else changed differently in the meantime gets an error with all three values;
        saving again then keeps the user's. The same applies to an object that was removed in the meantime.
        ``running`` is the object as it runs, which tells whether the user's own change set changed it.
        """
        if self.base is NOT_SAID or not isinstance(self.value, dict):
            return self.value
        if now is None and self.base is not None:
            self.base = None
            self.root.errors.append("was removed in the meantime. Save again to add it again")
            return self.value
        value, conflicts = put_together(self.root, self.base, self.value, now)
        for conflict in conflicts:
            self.place([Problem(self.pointer + conflict.path, told(conflict, running))])
            bound = next(
                (one for one in self.root.walk() if one.pointer == self.pointer + conflict.path), None
            )
            if bound is not None:
                bound.theirs = show(bound.field, conflict.theirs, bound.name, bound.pointer).text
            self.base = with_theirs(self.base, conflict)
        return value

    def place(self, problems: Iterable[Problem]) -> None:
        """Put each problem next to its field, or the nearest group around it."""
        elsewhere: list[Problem] = []
        for problem in problems:
            bound = self._nearest(problem)
            if bound is None:
                elsewhere.append(problem)
                continue
            message = _naming_the_item(bound, problem)
            if message not in bound.errors:
                bound.errors.append(message)
        self.elsewhere = tuple(elsewhere)

    def _nearest(self, problem: Problem) -> Bound | None:
        if problem.pointer == self.pointer and self.key is not None and _is_about_key(problem, self.key):
            return self.key
        best: Bound | None = None
        for bound in self.root.walk():
            inside = problem.pointer == bound.pointer or problem.pointer.startswith(bound.pointer + "/")
            if inside and (best is None or len(bound.pointer) > len(best.pointer)):
                best = bound
        if best is not None and problem.pointer == best.pointer:
            best = _child_the_message_names(best, problem.message) or best
        return best


def _naming_the_item(bound: Bound, problem: Problem) -> str:
    """For a list that is a single field, the message names the invalid item."""
    index = problem.pointer.removeprefix(bound.pointer + "/")
    if (
        isinstance(bound.raw, list)
        and bound.field.kind in (Kind.LINES, Kind.REFERENCES)
        and index.isdecimal()
    ):
        item = str(bound.raw[int(index)]) if int(index) < len(bound.raw) else ""
        if item and item not in problem.message:
            return f"{item}: {said(problem)}"
    return said(problem)


def _is_about_key(problem: Problem, key: Bound) -> bool:
    return bool(key.text) and (repr(key.text) in problem.message or "[key]" in problem.pointer)


def _child_the_message_names(group: Bound, message: str) -> Bound | None:
    """The model's own checks begin their message with the name of the field."""
    first = message.removeprefix("Value error, ").split(" ")[0].rstrip(":,")
    return next((child for child in group.children if child.field.name == first), None)


def _fields_of(pointer: str, value: Any, kind: str | None) -> Field:
    field = read_field(last(pointer), schema_at(pointer, value, kind), required=True)
    if field.kind is not Kind.GROUP:
        return replace(field, title=field.title or last(pointer))
    return replace(field, optional=False)


def _key_of(mapping: str) -> Field:
    schema = schema_at(mapping)
    return read_key(schema, last(mapping))


def is_optional(pointer: str) -> bool:
    """Whether the parent is valid without this object (null is allowed there)."""
    owner = schema_at(parent(pointer))
    below = owner.get("properties", {}).get(last(pointer))
    return below is not None and takes_null(below)
