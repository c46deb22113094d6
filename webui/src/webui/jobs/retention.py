"""The retention of jobs."""

from __future__ import annotations

from datetime import datetime, timedelta

from webui.jobs.models import Job, JobState
from webui.storage.kind import Kind, past

KEPT = timedelta(days=7)
_OVER = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


def _expire(now: datetime) -> int:
    Job.objects.filter(state=JobState.RUNNING, started_at__lt=now - timedelta(hours=1)).update(
        state=JobState.FAILED, error="its process ended before it did", finished_at=now
    )
    return past(lambda: Job.objects.filter(created_at__lt=now - KEPT))


KINDS = (
    Kind(
        "jobs",
        lambda: Job,
        "7 days",
        lambda: Job.objects.filter(state__in=_OVER).order_by("created_at"),
        _expire,
        most_rows=5000,
        most_bytes=32 << 20,
        payload=("log", "result", "arguments"),
    ),
)
