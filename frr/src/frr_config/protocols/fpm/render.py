"""Where zebra connects to, as a line."""

from __future__ import annotations

from collections.abc import Iterator

from frr_config.line import Line

_ADDRESS = "127.0.0.1"
"""Port 2620 is the module's own."""


def fpm_lines(*, wanted: bool) -> Iterator[Line]:
    """The address of a feeder beside zebra, where there is one. It takes zebra's module dplane_fpm_nl."""
    if wanted:
        yield Line((), f"fpm address {_ADDRESS}")
