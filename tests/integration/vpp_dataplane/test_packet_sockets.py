"""NICs that VPP reaches by packet sockets: the packets they hold while VPP does not run."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from lab.traffic import Flow
from tests.integration.vpp.harness import PrivateVpp
from tests.integration.vpp_dataplane.conftest import Router

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_PPS, _AWAY_S = 2000, 0.6


def test_nothing_is_lost_while_vpp_is_kept_off_the_processor(
    router: Router, vpp: PrivateVpp, tmp_path: Path
) -> None:
    """With rings of version 3, every packet that arrived after the first 0.16 s was lost."""
    with Flow(
        tmp_path, sender=router.left, receiver=router.right, destination="10.77.2.2", pps=_PPS, seconds=60
    ) as flow:
        for _ in range(3):
            os.kill(vpp.pid, signal.SIGSTOP)
            try:
                time.sleep(_AWAY_S)
            finally:
                os.kill(vpp.pid, signal.SIGCONT)
            time.sleep(0.2)
        result = flow.stop()
    assert result.longest_gap_s > _AWAY_S / 2, "VPP was away"
    assert (result.lost, result.duplicates) == (0, 0), result
