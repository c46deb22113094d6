"""A part of ``make soak-impact``: the named rounds, and one random round, on each data plane."""

from __future__ import annotations

import pytest

from tests.live_lab import live_lab
from tests.requirements import require_root_netns, require_vpp
from tests.soak.impact_campaign import Bench
from tests.soak.impact_cases import NAMED
from tests.soak.impact_changes import OUTSIDE
from tests.soak.impact_report import line
from tests.soak.mixed_traffic import Traffic

pytestmark = [pytest.mark.integration, pytest.mark.root]

_SEED, _ROUND = 20261123, 1


@pytest.fixture
def routing_is_whole() -> None:
    """Replaces the fixture of the shared labs, which are not used here."""


@pytest.mark.parametrize("dataplane", ["linux", "vpp"])
def test_what_was_foretold_is_what_happened(dataplane: str) -> None:
    """In a lab of its own, so that these rounds do not affect other tests."""
    require_root_netns()
    if dataplane == "vpp":
        require_vpp()
    with (
        live_lab(f"ac{dataplane[0]}", dataplane) as live,
        Traffic(live.topology.namespaces, OUTSIDE[live.dataplane]) as traffic,
    ):
        bench = Bench(live, traffic, _SEED)
        try:
            done = [bench.named(number) for number in range(len(NAMED))]
            done.append(bench.round(_ROUND))
        finally:
            bench.give_back()
    wrong = [line(one.as_json()) for one in done if one.verdict.is_wrong]
    assert not wrong, "\n".join(wrong)
    for one, case in zip(done, NAMED, strict=False):
        assert case.is_refused or one.measured.sessions or one.measured.disturbed, line(one.as_json())
        assert case.is_refused or one.foretold, line(one.as_json())
