"""What forwarding alone costs, by the bench; features hold what they cost beyond that in their ``costs.py``.

``python -m tests.bench.throughput.calibrate`` tells all of them from the results of a run.
"""

from __future__ import annotations

MACHINE = "a virtual AMD EPYC"
BASE_CLOCKS = 113.5
"""Of a packet of 64 bytes that is forwarded, IPv4, with full vectors."""
