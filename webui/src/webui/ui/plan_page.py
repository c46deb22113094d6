"""The long lists of a plan on a page: its steps and its lines for FRR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest

from webui.ui.diff_text import Line
from webui.ui.pager import Pager, pager

_STEPS = 200
_FRR_LINES = 500


def steps_page(request: HttpRequest, steps: Sequence[Any], page: str = "") -> Pager[Any]:
    """The steps that ``?steps=`` selects."""
    return pager(request, "steps", steps, _STEPS, page)


def frr_page(request: HttpRequest, lines: Sequence[Line], page: str = "") -> Pager[Line]:
    """The lines of FRR's difference that ``?frr=`` selects."""
    return pager(request, "frr", lines, _FRR_LINES, page)
