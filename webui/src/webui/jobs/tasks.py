"""The Celery tasks."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.utils import timezone

from webui.celery import app
from webui.jobs import services
from webui.jobs.models import Job, JobState
from webui.jobs.tools import TOOLS

_log = logging.getLogger(__name__)
KEPT = timedelta(days=7)


@app.task(name="webui.jobs.run_job")
def run_job(job_id: str) -> None:
    """Run one queued job to its end, whatever that is."""
    job = services.begin(job_id)
    if job is None:
        return
    try:
        result = TOOLS[job.kind](job)
    except Exception as error:
        _log.exception("job %s failed", job)
        services.finish(job, JobState.FAILED, error=str(error) or type(error).__name__)
        return
    if result is None:
        services.finish(job, JobState.CANCELLED)
    else:
        services.finish(job, JobState.DONE, result)


@app.task(name="webui.jobs.sample_counters")
def sample_counters() -> None:
    """Roll the agent's counters up."""
    from webui.metrics.sampler import sample

    sample()


@app.task(name="webui.jobs.clean_up")
def clean_up() -> None:
    """Remove what is past its time: roll-ups, jobs, kept answers, sessions; end jobs nobody runs."""
    from django.contrib.sessions.backends.db import SessionStore

    from webui.api.idempotency import forget_old
    from webui.metrics.sampler import forget_old as forget_roll_ups

    now = timezone.now()
    forget_roll_ups()
    forget_old()
    SessionStore.clear_expired()
    Job.objects.filter(created_at__lt=now - KEPT).delete()
    Job.objects.filter(state=JobState.RUNNING, started_at__lt=now - timedelta(hours=1)).update(
        state=JobState.FAILED, error="its process ended before it did", finished_at=now
    )
