"""A query string may hold only its operation's parameters, each name once; anything else is refused, not
ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from itertools import islice
from typing import Any

from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from ninja.operation import Operation

from appliance.config.pointer import join
from appliance.errors import Problem
from webui.problems import not_valid

_MOST_TOLD = 20
"""The most names that one answer lists."""
_LONGEST_NAME = 64
"""The most characters of a name that an answer repeats and compares."""


@dataclass(frozen=True)
class QueryNames:
    """The parameters that an operation accepts in its query string."""

    once: frozenset[str]
    lists: frozenset[str] = frozenset()
    """Those that may be given several times."""

    def problems(self, query: QueryDict) -> Iterator[Problem]:
        """The problems of the names in `query`, one for each name."""
        for name in query:
            if name in self.lists:
                continue
            if name not in self.once:
                cut = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
                yield Problem(join([cut]), f"is not a parameter here; {self._advice(cut)}")
            elif len(query.getlist(name)) > 1:
                yield Problem(join([name]), "is given more than once")

    def _advice(self, name: str) -> str:
        known = sorted(self.once | self.lists)
        if nearest := get_close_matches(name.lower(), known, n=1):
            return f"did you mean {nearest[0]}?"
        return f"there are {', '.join(known)}" if known else "this operation takes none"


def _names(models: Iterable[Any], attribute: str) -> frozenset[str]:
    return frozenset(name for model in models for name in getattr(model, attribute, ()))


def names_of(operation: Operation) -> QueryNames:
    """The names that the signature of `operation` declares."""
    models = [model for model in operation.models if model.__ninja_param_source__ == "query"]
    lists = _names(models, "__ninja_collection_fields__")
    return QueryNames(_names(models, "__ninja_flatten_map__") - lists, lists)


def only_known_names(run: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A decorator of mode `view` for all operations of an API. A permitted caller gets 422 for a name
    that the operation does not accept, before its other parameters and its body are read.
    """
    operation = run.__self__  # type: ignore[attr-defined]  # the method of an operation
    assert isinstance(operation, Operation)
    names = names_of(operation)

    @wraps(run)
    def checked(request: HttpRequest, **in_path: Any) -> HttpResponseBase:
        problems = list(islice(names.problems(request.GET), _MOST_TOLD))
        if not problems:
            return run(request, **in_path)
        refused = operation._run_checks(request)
        return (
            refused
            or not_valid(
                tuple({"pointer": one.pointer, "in": "query", "detail": one.message} for one in problems)
            ).to_response()
        )

    return checked
