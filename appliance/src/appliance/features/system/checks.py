"""Host settings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from zoneinfo import available_timezones

from appliance.config.context import Context
from appliance.errors import Problem


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def check(context: Context) -> Iterator[Problem]:
    """The time zone exists."""
    timezone = context.config.system.timezone
    if timezone != "UTC" and _zones() and timezone not in _zones():
        yield Problem("/system/timezone", f"{timezone} is not a time zone of the IANA database")
