"""The bench's cost of forwarding alone; features hold their own additional cost in their ``costs.py``.

``python -m tests.bench.throughput.calibrate`` computes all of them from the results of a run.
"""

from __future__ import annotations

MACHINE = "a virtual AMD EPYC"
BASE_CLOCKS = 113.5
"""For one forwarded IPv4 packet of 64 bytes, with full vectors."""
