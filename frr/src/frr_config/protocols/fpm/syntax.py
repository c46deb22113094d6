"""What the lines of FPM mean."""

from __future__ import annotations

from frr_config.line import Daemons
from frr_config.protocols.fpm.render import fpm_lines
from frr_config.syntax import Form, Kind, Protocol, Section, by_name
from frr_config.version import FrrVersion


def _zebra(_version: FrrVersion) -> Daemons:
    return frozenset({"zebra"})


FEED = Kind("fpm", title=lambda _name: "feed of routes to the data plane", path=lambda _name: "")
QUEUE = Kind("dplane", title=lambda _name: "queue of routes to the data plane", path=lambda _name: "")

PROTOCOL = Protocol(
    "fpm",
    kinds=(FEED, QUEUE),
    sections=(
        Section("", (Form("fpm address", FEED, by_name), Form("zebra dplane limit", QUEUE, by_name)), _zebra),
    ),
    places={0: ("fpm ", "zebra dplane ")},
    lines=lambda wanted: fpm_lines(wanted=wanted.feeds),
)
