"""Finds a row and the one it refers to by a unique field, with SQL that is compiled once.

For lookups that every request makes: Django compiles a query each time it runs, which takes longer than the
database needs for the answer. No answer is cached: a revoked row is gone at the next request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model

M = TypeVar("M", bound=Model)
_Converters = Sequence[tuple[int, Any, Sequence[Callable[..., Any]]]]


@dataclass(frozen=True)
class _Made:
    sql: str
    converters: _Converters


class ReadyLookup(Generic[M]):
    """`find` is ``model.objects.select_related(related).filter(**{field: value}).first()``."""

    def __init__(self, model: type[M], field: str, related: str) -> None:
        self._model, self._field, self._related = model, field, related
        self._made: dict[str, _Made] = {}

    def find(self, value: str) -> M | None:
        """The row with this value, or None."""
        connection = connections[DEFAULT_DB_ALIAS]
        made = self._made.get(connection.vendor)
        if made is None:
            made = self._made[connection.vendor] = self._make(connection)
        with connection.cursor() as cursor:
            cursor.execute(made.sql, [value])
            row = cursor.fetchone()
        if row is None:
            return None
        values = list(row)
        for place, column, converters in made.converters:
            for convert in converters:
                values[place] = convert(values[place], column, connection)
        own = [field.attname for field in self._model._meta.concrete_fields]
        found = self._model.from_db(DEFAULT_DB_ALIAS, own, values[: len(own)])
        other = _related_model(self._model, self._related)
        names = [field.attname for field in other._meta.concrete_fields]
        setattr(found, self._related, other.from_db(DEFAULT_DB_ALIAS, names, values[len(own) :]))
        return found

    def _make(self, connection: Any) -> _Made:
        rows = self._model._default_manager.select_related(self._related).order_by()
        compiler = rows.filter(**{self._field: "value"}).query.get_compiler(connection=connection)
        sql, parameters = compiler.as_sql()
        columns = [column for column, _, _ in compiler.select]
        fields = [*self._model._meta.concrete_fields]
        fields += _related_model(self._model, self._related)._meta.concrete_fields
        if tuple(parameters) != ("value",) or [column.target for column in columns] != fields:
            raise TypeError(f"{self._model.__name__} by {self._field} is no plain lookup: {sql}")
        found = compiler.get_converters(columns)
        return _Made(sql, [(place, column, converters) for place, (converters, column) in found.items()])


def _related_model(model: type[Model], name: str) -> type[Model]:
    related = model._meta.get_field(name).related_model
    assert isinstance(related, type) and issubclass(related, Model)
    return related
