"""Ping and traceroute, and the jobs they run as."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import Router
from pydantic import Field

from webui.accounts.roles import Role
from webui.api.auth import actor, needs
from webui.api.paging import Limit, Offset, Paged, page_of
from webui.api.schemas import JobOut, Strict
from webui.jobs import services as jobs
from webui.jobs.models import Job

router = Router()


class PingIn(Strict):
    """A ping from the router's data plane."""

    destination: str = Field(min_length=2, max_length=45, description="IPv4 or IPv6 address.")
    count: int = Field(5, ge=1, le=jobs.MAX_PINGS)
    source: str | None = Field(None, max_length=45, description="Address of the router to send from.")
    size: int | None = Field(None, ge=0, le=9000, description="Payload in bytes.")
    vrf: str | None = Field(None, max_length=15, description="VRF to send in; null: the default one.")


class TracerouteIn(Strict):
    """A traceroute from the router's data plane."""

    destination: str = Field(min_length=2, max_length=45, description="IPv4 or IPv6 address.")
    source: str | None = Field(None, max_length=45, description="Address of the router to send from.")
    vrf: str | None = Field(None, max_length=15, description="VRF to send in; null: the default one.")


@router.post(
    "/tools/ping", auth=needs(Role.OPERATOR), response={202: JobOut}, tags=["tools"], operation_id="ping"
)
def ping(request: HttpRequest, body: PingIn) -> HttpResponse:
    """Start a ping; Location is its job."""
    return _accepted(
        jobs.start_ping(actor(request), body.destination, body.count, body.source, body.size, body.vrf)
    )


@router.post(
    "/tools/traceroute",
    auth=needs(Role.OPERATOR),
    response={202: JobOut},
    tags=["tools"],
    operation_id="traceroute",
)
def traceroute(request: HttpRequest, body: TracerouteIn) -> HttpResponse:
    """Start a traceroute; Location is its job."""
    return _accepted(jobs.start_traceroute(actor(request), body.destination, body.source, body.vrf))


@router.get("/jobs", auth=needs(Role.VIEWER), response=Paged[JobOut], tags=["jobs"], operation_id="list_jobs")
def list_jobs(request: HttpRequest, limit: Limit, offset: Offset) -> Any:
    """Jobs of all users, the newest first."""
    return page_of(request, Job.objects.select_related("owner"), limit, offset)


@router.get("/jobs/{job_id}", auth=needs(Role.VIEWER), response=JobOut, tags=["jobs"], operation_id="get_job")
def get_job(request: HttpRequest, job_id: UUID) -> Any:  # noqa: ARG001 - ninja's signature
    """Progress, log and result of a job."""
    return jobs.get(job_id)


@router.post(
    "/jobs/{job_id}/cancel",
    auth=needs(Role.OPERATOR),
    response=JobOut,
    tags=["jobs"],
    operation_id="cancel_job",
)
def cancel_job(request: HttpRequest, job_id: UUID) -> Any:
    """Ask a job to stop. Its owner or an admin may."""
    return jobs.cancel(actor(request), jobs.get(job_id))


def _accepted(job: Job) -> HttpResponse:
    body = JobOut.from_orm(job).model_dump(mode="json")
    return JsonResponse(body, status=202, headers={"Location": f"/api/v1/jobs/{job.pk}"})
