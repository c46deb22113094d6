"""Host settings, and the data plane's own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from zoneinfo import available_timezones

from appliance.config.checks.context import Context
from appliance.config.system import Dataplane
from appliance.errors import Problem


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def check(context: Context) -> Iterator[Problem]:
    """The time zone exists; the data plane asked for is the one that runs and can do what is asked."""
    system, dataplane, can = context.config.system, context.config.dataplane, context.capabilities
    if system.timezone != "UTC" and _zones() and system.timezone not in _zones():
        yield Problem("/system/timezone", f"{system.timezone} is not a time zone of the IANA database")
    if dataplane.driver is not None and dataplane.driver != can.driver:
        yield Problem(
            "/dataplane/driver", f"this router runs the {can.driver} data plane, not {dataplane.driver}"
        )
    if can.driver == "linux":
        for name, field in Dataplane.model_fields.items():
            if name != "driver" and getattr(dataplane, name) != field.default:
                yield Problem(f"/dataplane/{name}", "is a setting of VPP; this router's data plane is linux")
        return
    if dataplane.workers is not None and dataplane.workers > can.max_workers:
        yield Problem(
            "/dataplane/workers",
            f"there are CPUs for at most {can.max_workers} workers beside the main thread",
        )
