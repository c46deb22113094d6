"""Where zebra connects to, and how far it may run ahead of its writers, as lines."""

from __future__ import annotations

from collections.abc import Iterator

from frr_config.line import Line

_ADDRESS = "127.0.0.1"
"""Port 2620 is the module's own."""
_QUEUED_ROUTES = 5000
"""How many routes zebra's main thread may decide before the kernel and the feeder have been given them.
With FRR's 200 the threads that write run dry all the time, which costs a third of zebra's CPU time."""


def fpm_lines(*, wanted: bool) -> Iterator[Line]:
    """The address of a feeder beside zebra, where there is one, and a queue for a full table.
    The address takes zebra's module dplane_fpm_nl.
    """
    if wanted:
        yield Line((), f"fpm address {_ADDRESS}")
        yield Line((), f"zebra dplane limit {_QUEUED_ROUTES}")
