"""The page of a revision says that the router rolled it back, whatever happened to later ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from webui.changes import rolled_back, services
from webui.changes.results import Page, Revision


def _back(number: int, back_to: int, of: int) -> Revision:
    comment = f"Roll back to revision {back_to}: sessions or traffic got worse after revision {of}"
    return Revision(number, "", "millrace", comment, datetime.now(UTC), "none", 0, "done")


def test_a_revision_whose_number_begins_later_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [_back(number + 1, number - 1, number) for number in (*range(199, 101, -2), 15, 1)]

    def history(limit: int = 50, offset: int = 0, search: str = "") -> Page:
        found = [one for one in kept if search in one.comment]
        return Page(found[offset : offset + limit], len(found))

    monkeypatch.setattr(services, "history", history)
    monkeypatch.setattr(rolled_back, "_AT_ONCE", 10)
    for number, by in ((1, 2), (15, 16), (103, 104)):
        told = rolled_back.of(number)
        assert told is not None and (told.number, told.by) == (number, by)
    assert rolled_back.of(19) is None


def test_where_the_router_went_back_as_a_whole_nothing_is_said_of_steps_and_impact() -> None:
    whole = rolled_back.planned(_back(6, 4, 5))
    assert (whole.steps_count, whole.impact) == (None, None)
    later = replace(_back(6, 4, 5), steps_count=2, impact="resets ospf")
    assert rolled_back.planned(later) == later
    by_hand = replace(_back(6, 4, 5), author="admin")
    assert rolled_back.planned(by_hand) == by_hand
