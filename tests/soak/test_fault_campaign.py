"""The router holds: random commits, rollbacks and confirm timers under random faults.

Each round one operation meets one fault (see ``faults.py``). Afterwards the live router has to be what the
last recorded revision says, by the agent's plan and by witnesses that do not know Millrace; packets pass; and
nothing has grown. What it is told: ``options.py``. It prints every round, and for each finding how to run
that round again.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.lab_support.shifted_clock import ShiftedClock
from tests.live_lab import live_lab
from tests.requirements import require_root_netns, require_vpp
from tests.soak.campaign import Campaign, Finding, Lost, summarized
from tests.soak.faults import Fault, catalogue
from tests.soak.options import Options, options

pytestmark = [pytest.mark.soak, pytest.mark.root, pytest.mark.timeout(0)]

_STATE_BYTES = 96 * 2**20


def _prepare(directory: Path) -> None:
    """The agent's state on a disk of its own that can be filled, and a clock that can jump."""
    ShiftedClock(directory).prepare()
    state = directory / "agent"
    state.mkdir(mode=0o700)
    argv = ["mount", "-t", "tmpfs", "-o", f"size={_STATE_BYTES},mode=0700", "millrace-soak", str(state)]
    subprocess.run(argv, check=True, capture_output=True, timeout=30)


@pytest.mark.parametrize("dataplane", options().dataplanes)
def test_fault_campaign(dataplane: str) -> None:
    """No round may find anything; a seed and a number bring each round back."""
    require_root_netns()
    if dataplane == "vpp":
        require_vpp()
    asked, known = options(), catalogue()
    chosen = [known[name] for name in asked.chosen(known)]
    print(f"\nMILLRACE_SEED={asked.seed}: {len(asked.rounds)} rounds on {dataplane}", flush=True)
    left, findings, counted = list(asked.rounds), list[Finding](), Counter[str]()
    try:
        while left:
            _rounds(dataplane, asked, chosen, left, findings, counted)
    finally:
        summary = summarized(asked.seed, dataplane, findings, counted)
        print(summary, flush=True)
    if findings:
        pytest.fail(summary, pytrace=False)


def _rounds(
    dataplane: str,
    asked: Options,
    chosen: list[Fault],
    left: list[int],
    findings: list[Finding],
    counted: Counter[str],
) -> None:
    """Rounds on one lab, until none is ``left`` or the lab is lost; at least one is taken."""
    replays = {number: asked.replay("test_fault_campaign", dataplane, number) for number in left}
    with live_lab(f"s{dataplane[0]}", dataplane, asked.database, _prepare) as live:
        campaign = Campaign(live, asked.seed, chosen, replays, findings, counted)
        campaign.opening()
        try:
            while left:
                campaign.round(left.pop(0))
        except Lost as error:
            print(f"another lab goes on: {error}", flush=True)
