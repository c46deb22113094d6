"""The router holds: random commits, rollbacks and confirm timers under random faults.

Each round one operation meets one fault (see ``faults.py``). Afterwards the live router has to be what the
last recorded revision says, by the agent's plan and by witnesses that do not know Millrace; packets pass; and
nothing has grown. What it is told: ``options.py``. It prints every round, and for each finding how to run
that round again.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.lab_support.shifted_clock import ShiftedClock
from tests.live_lab import live_lab
from tests.requirements import require_root_netns, require_vpp
from tests.soak.campaign import Campaign
from tests.soak.faults import catalogue
from tests.soak.options import options

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
    replays = {number: asked.replay("test_fault_campaign", dataplane, number) for number in asked.rounds}
    print(f"\nMILLRACE_SEED={asked.seed}: {len(asked.rounds)} rounds on {dataplane}", flush=True)
    with live_lab(f"s{dataplane[0]}", dataplane, asked.database, _prepare) as live:
        campaign = Campaign(live, asked.seed, chosen, replays)
        campaign.opening()
        try:
            for number in asked.rounds:
                campaign.round(number)
        finally:
            print(campaign.summary(), flush=True)
    assert not campaign.findings, campaign.summary()
