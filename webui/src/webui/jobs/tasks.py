"""The Celery tasks."""

from __future__ import annotations

import logging

from webui.celery import app
from webui.jobs import services
from webui.jobs.models import JobState
from webui.jobs.tools import TOOLS

_log = logging.getLogger(__name__)


@app.task(name="webui.jobs.run_job")
def run_job(job_id: str) -> None:
    """Run one queued job to its end, whatever the result."""
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


@app.task(name="webui.jobs.take_over_command_line")
def take_over_command_line() -> None:
    """Copy actions of the router's command line into the audit log."""
    from webui.accounts.command_line import take_over

    take_over()


@app.task(name="webui.jobs.clean_up")
def clean_up() -> None:
    """Remove data of every kind beyond its retention time or quota."""
    from webui.storage.clean_up import clean_up as reduce_everything

    reduce_everything()
