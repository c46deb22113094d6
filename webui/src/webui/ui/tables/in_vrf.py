"""A declared page for one VRF: the same tables, with that VRF's objects and live state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from appliance.config.vrf_view import pointer_in
from appliance.state.part import AnyPart, OfVrf, Part, Question
from webui.ui.candidate import Candidate
from webui.ui.tables.declaration import Page, Table


def is_of_vrf(page: Page) -> bool:
    """Whether each VRF has such a page: something on it belongs to a VRF."""
    if page.instance is not None and _is_own(page.instance.pointer):
        return True
    return any(_is_own(table.mapping) or any(map(_asks_vrf, _parts(table))) for table in page.tables)


def page_in(page: Page, vrf: str, candidate: Candidate) -> Page:
    """The page for the VRF; the empty name is the default one."""
    instance = page.instance
    if instance is not None:
        instance = replace(instance, pointer=pointer_in(vrf, instance.pointer))
    return replace(
        page, instance=instance, tables=tuple(table_in(table, vrf, candidate) for table in page.tables)
    )


def table_in(table: Table, vrf: str, candidate: Candidate) -> Table:
    """The table for the VRF, with the columns that have a meaning in this document."""
    return replace(
        table,
        mapping=pointer_in(vrf, table.mapping),
        columns=tuple(column for column in table.columns if column.when is None or column.when(candidate)),
    )


def question_in(vrf: str, part: AnyPart, given: Mapping[str, Any] | None = None) -> Question | None:
    """The part's question about the VRF; None where no field is given.

    Raises pydantic's ValidationError.
    """
    asked = {**(given or {}), **({"vrf": vrf} if vrf and _asks_vrf(part) else {})}
    return part.asked(asked) if asked else None


def fields_in(vrf: str, question: type[Question]) -> tuple[tuple[str, str], ...]:
    """The form's value of the VRF for a question of this type."""
    return (("vrf", vrf),) if vrf and issubclass(question, OfVrf) else ()


def path_in(vrf: str, path: str, part: object) -> str:
    """The REST path of the part's question about the VRF."""
    if not (vrf and isinstance(part, Part) and _asks_vrf(part)):
        return path
    return f"{path}?{urlencode({'vrf': vrf})}"


def _is_own(pointer: str) -> bool:
    return pointer_in("any", pointer) != pointer


def _asks_vrf(part: AnyPart) -> bool:
    return issubclass(part.question, OfVrf)


def _parts(table: Table) -> list[AnyPart]:
    found = [table.live.source if table.live else None, table.search.part if table.search else None]
    return [one for one in found if isinstance(one, Part)]
