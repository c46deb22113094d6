"""The address zebra connects to, and how far it may run ahead of its writers, as lines."""

from __future__ import annotations

from collections.abc import Iterator

from frr_config.line import Line

_ADDRESS = "127.0.0.1"
"""Port 2620 is the module's default."""
_QUEUED_ROUTES = 5000
"""How many routes zebra's main thread may process before the kernel and the feeder have received them.
With FRR's default of 200 the writing threads constantly run out of work, which costs a third of zebra's
CPU time.
"""


def fpm_lines(*, wanted: bool) -> Iterator[Line]:
    """The address of a feeder on the same machine, where there is one, and a queue for a full table. The
    address requires zebra's module dplane_fpm_nl.
    """
    if wanted:
        yield Line((), f"fpm address {_ADDRESS}")
        yield Line((), f"zebra dplane limit {_QUEUED_ROUTES}")
