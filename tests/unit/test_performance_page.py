"""The page of measured numbers, and the product's copies of them, match the run's results."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from typing import Any

import pytest

from appliance.impact.calibration import BASE_CLOCKS
from tests.bench.throughput.calibrate import base_clocks, tables
from tests.bench.throughput.report import DATA, DOCS, PAGE, charts, page

WITHIN = 0.15
"""How well the plan's foretelling has to fit the measurement."""


@cache
def _results() -> Any:
    return json.loads(DATA.read_text())


def test_the_page_and_its_charts_are_made_of_the_results() -> None:
    assert PAGE.read_text() == page(_results())
    made = charts(_results())
    assert made
    for name, text in made.items():
        assert (DOCS / "images" / name).read_text() == text


def test_the_costs_of_features_are_those_of_the_results() -> None:
    assert base_clocks(_results()) == BASE_CLOCKS
    for feature, points in tables(_results()).items():
        assert points == import_module(f"appliance.features.{feature}.costs").CLOCKS


@pytest.mark.parametrize("scenario", ["acl-1024", "acl-10000"])
def test_what_the_plan_foretells_is_what_was_measured(scenario: str) -> None:
    """Of the packets that a worker takes with a list, as a share of those without."""
    known = {one["id"]: one["routers"]["millrace"]["mrr_pps"] for one in _results()["scenarios"]}
    more = dict(import_module("appliance.features.acl.costs").CLOCKS)[int(scenario.removeprefix("acl-"))]
    foretold = BASE_CLOCKS / (BASE_CLOCKS + more)
    assert foretold == pytest.approx(known[scenario] / known["acl-0"], rel=WITHIN)
