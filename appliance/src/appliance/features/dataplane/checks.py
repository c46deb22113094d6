"""The data plane's own settings."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.context import Context
from appliance.errors import Problem
from appliance.features.dataplane.model import Dataplane


def check(context: Context) -> Iterator[Problem]:
    """The data plane asked for is the one that runs, and can do what is asked."""
    dataplane, can = context.config.dataplane, context.capabilities
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
