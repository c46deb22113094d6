"""From the words of a command to the question of a part of the state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from appliance.cli.errors import CommandError
from appliance.config.problem_text import sentence_of
from appliance.config.problem_text import told_by_field as by_field
from appliance.errors import ValidationFailed
from appliance.state import Answer, Part, Question

A = TypeVar("A", bound=Answer)
Q = TypeVar("Q", bound=Question)


def asked(part: Part[Q, A], query: Mapping[str, Any]) -> Q:
    """The question with these fields. Raises CommandError, which names the wrong fields."""
    with told_by_field():
        return part.asked(query)


@contextmanager
def told_by_field() -> Iterator[None]:
    """Turns pydantic's ValidationError into CommandError, which names the fields."""
    try:
        with by_field():
            yield
    except ValidationFailed as error:
        raise CommandError(sentence_of(error.problems)) from None


def vrf_in(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """A leading ``vrf NAME`` as a field of a question, and the other words."""
    if words[:1] != ["vrf"]:
        return {}, words
    if len(words) < 2:
        raise CommandError("vrf needs a value")
    return {"vrf": words[1]}, words[2:]


def fields(
    words: list[str],
    switches: Mapping[str, Mapping[str, Any]],
    valued: Mapping[str, str],
    bare: str | None = None,
    usage: str = "",
) -> dict[str, Any]:
    """The fields that the words set. A switch sets its fields; a word in ``valued`` is followed by its value;
    any other word is the value of the field ``bare``.

    Raises CommandError for a field that is set twice, and, with ``usage`` if it is given, for a word that is
    not expected.
    """
    found: dict[str, Any] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in switches:
            new = dict(switches[word])
        elif word in valued:
            if not rest:
                raise CommandError(usage or f"{word} needs a value")
            new = {valued[word]: rest.pop(0)}
        elif bare is not None and bare not in found:
            new = {bare: word}
        else:
            raise CommandError(usage or f"{word!r} is not expected here")
        if taken := found.keys() & new.keys():
            names = " and ".join(sorted(taken)).replace("_", " ")
            raise CommandError(
                f"{word}: {names} is given twice" if names != word else f"{word} is given twice"
            )
        found |= new
    return found
