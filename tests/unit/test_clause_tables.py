"""The page of clauses is made of the table that the product judges by."""

from __future__ import annotations

from frr_config.protocols.policy.clause_tables import BEGIN, written
from tests.unit.test_house_rules import ROOT

PAGE = ROOT / "docs" / "route-map-clauses.md"


def test_the_tables_are_current() -> None:
    """``python -m frr_config.protocols.policy.clause_tables docs/route-map-clauses.md`` writes them anew."""
    text = PAGE.read_text()
    assert BEGIN in text
    assert written(text) == text
