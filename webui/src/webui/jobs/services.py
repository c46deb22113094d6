"""Starting, following and cancelling jobs."""

from __future__ import annotations

from ipaddress import ip_address
from uuid import UUID

from django.db.models import F, Value
from django.db.models.functions import Concat
from django.utils import timezone
from pydantic import ValidationError

from appliance.errors import Conflict, NotFound, Problem, ValidationFailed
from appliance.state.part import OfVrf
from webui.accounts import audit
from webui.accounts.actor import Actor
from webui.accounts.roles import Role
from webui.errors import Forbidden, RequestProblem
from webui.jobs.dispatch import QueueUnavailable, dispatch
from webui.jobs.models import Job, JobState

MAX_ACTIVE = 8
"""The most jobs of one user that may wait or run at once."""
MAX_PINGS = 100
_NOT_STARTED = "The queue of jobs does not answer, so nothing was started. Try again in a moment."


def start_ping(
    actor: Actor,
    destination: str,
    count: int = 5,
    source: str | None = None,
    size: int | None = None,
    vrf: str | None = None,
) -> Job:
    """Ping `destination` from the router's data plane. Raises ValidationFailed, Conflict."""
    problems = _addresses(destination, source) + _vrf(vrf)
    if not 1 <= count <= MAX_PINGS:
        problems.append(Problem("/count", f"must be 1 to {MAX_PINGS}"))
    if size is not None and not 0 <= size <= 9000:
        problems.append(Problem("/size", "must be 0 to 9000 bytes"))
    if problems:
        raise ValidationFailed(problems)
    return _start(
        actor,
        "ping",
        {"destination": _canonical(destination), "count": count, "source": source, "size": size, "vrf": vrf},
    )


def start_traceroute(
    actor: Actor, destination: str, source: str | None = None, vrf: str | None = None
) -> Job:
    """Trace the path to `destination`. Raises ValidationFailed, Conflict."""
    if problems := _addresses(destination, source) + _vrf(vrf):
        raise ValidationFailed(problems)
    return _start(actor, "traceroute", {"destination": _canonical(destination), "source": source, "vrf": vrf})


def _vrf(name: str | None) -> list[Problem]:
    """Whether the name is valid for a VRF; the agent says whether that VRF exists."""
    try:
        OfVrf.model_validate({"vrf": name})
    except ValidationError:
        return [Problem("/vrf", "must be the name of a VRF")]
    return []


def get(job_id: UUID) -> Job:
    """The job. Raises NotFound."""
    job = Job.objects.select_related("owner").filter(pk=job_id).first()
    if job is None:
        raise NotFound(f"There is no job {job_id}.")
    return job


def cancel(actor: Actor, job: Job) -> Job:
    """Ask a job to stop; a finished one stays as it is. Its owner or an admin may."""
    actor.require(Role.OPERATOR)
    if job.owner_id != actor.user.pk and not actor.user.has_role(Role.ADMIN):
        raise Forbidden(f"This job belongs to {job.owner.username}.")
    Job.objects.filter(pk=job.pk, state=JobState.QUEUED).update(
        state=JobState.CANCELLED, cancel_requested=True, finished_at=timezone.now()
    )
    Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(cancel_requested=True)
    audit.record(actor, "job.cancel", f"{job.kind} {job.pk}")
    job.refresh_from_db()
    return job


def begin(job_id: str) -> Job | None:
    """Take a queued job to run it; None when it was cancelled or already taken."""
    taken = Job.objects.filter(pk=job_id, state=JobState.QUEUED).update(
        state=JobState.RUNNING, started_at=timezone.now()
    )
    return Job.objects.get(pk=job_id) if taken else None


def progress(job: Job, percent: int, line: str = "") -> bool:
    """Record progress and add to the log; False when the job has to stop."""
    changes = {"progress": percent}
    rows = Job.objects.filter(pk=job.pk)
    if line:
        rows.update(**changes, log=Concat(F("log"), Value(line.rstrip("\n") + "\n")))
    else:
        rows.update(**changes)
    return not Job.objects.filter(pk=job.pk, cancel_requested=True).exists()


def finish(job: Job, state: JobState, result: dict[str, object] | None = None, error: str = "") -> None:
    """Record the result of a job."""
    changes = {"progress": 100} if state == JobState.DONE else {}
    Job.objects.filter(pk=job.pk).update(
        state=state, result=result, error=error[:1000], finished_at=timezone.now(), **changes
    )


def _start(actor: Actor, kind: str, arguments: dict[str, object]) -> Job:
    from webui.jobs.tasks import run_job

    actor.require(Role.OPERATOR)
    active = Job.objects.filter(owner=actor.user, state__in=(JobState.QUEUED, JobState.RUNNING)).count()
    if active >= MAX_ACTIVE:
        raise Conflict(f"{MAX_ACTIVE} of your jobs are still running.")
    job = Job.objects.create(kind=kind, owner=actor.user, arguments=arguments)
    audit.record(actor, f"tool.{kind}", str(arguments["destination"]))
    try:
        dispatch(run_job, str(job.pk))
    except QueueUnavailable as error:
        finish(job, JobState.FAILED, error=str(error))
        raise RequestProblem(503, _NOT_STARTED, {"Retry-After": "2"}) from error
    return job


def _addresses(destination: str, source: str | None) -> list[Problem]:
    problems = []
    for name, text in (("destination", destination), ("source", source)):
        try:
            if text is not None:
                _canonical(text)
        except ValueError:
            problems.append(Problem(f"/{name}", "must be an IPv4 or IPv6 address"))
    if not problems and source is not None and ip_address(source).version != ip_address(destination).version:
        problems.append(Problem("/source", "must be of the destination's family"))
    return problems


def _canonical(text: str) -> str:
    address = ip_address(text)
    if "%" in text:
        raise ValueError("a zone cannot be given")
    return str(address)
