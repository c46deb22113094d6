"""Words of a command line as the question of a part of the state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from appliance.cli.errors import CommandError
from appliance.state import Answer, Part, Question

A = TypeVar("A", bound=Answer)
Q = TypeVar("Q", bound=Question)


def asked(part: Part[Q, A], query: Mapping[str, Any]) -> Q:
    """The question with these fields. Raises CommandError naming the first that is wrong."""
    try:
        return part.asked(query)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise CommandError(f"{first['loc'][0]}: {first['msg']}") from None


def vrf_in(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """The VRF that is named first, as a field of a question, and the other words."""
    if words[:1] != ["vrf"]:
        return {}, words
    if len(words) < 2:
        raise CommandError("vrf: which?")
    return {"vrf": words[1]}, words[2:]


def fields(
    words: list[str], switches: Mapping[str, Mapping[str, Any]], valued: Mapping[str, str]
) -> dict[str, Any]:
    """Fields out of words: a switch is a word that sets fields, of ``valued`` each is followed by its value.

    Raises CommandError for any other word.
    """
    found: dict[str, Any] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in switches:
            found |= switches[word]
        elif word in valued and rest:
            found[valued[word]] = rest.pop(0)
        else:
            raise CommandError(f"{word}: which?" if word in valued else f"{word!r} is not expected here")
    return found
