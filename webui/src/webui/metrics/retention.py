"""The retention of the counters."""

from __future__ import annotations

from datetime import datetime

from webui.metrics.models import RollUp
from webui.metrics.sampler import forget_old
from webui.storage.kind import Kind


def _expire(now: datetime) -> int:
    return forget_old(now.timestamp())


KINDS = (
    Kind(
        "rates of interfaces",
        lambda: RollUp,
        "6 hours at 10 s, 3 days at a minute, 35 days at an hour",
        lambda: RollUp.objects.order_by("time"),
        _expire,
        # 250 interfaces for the whole time.
        most_rows=2_000_000,
    ),
)
