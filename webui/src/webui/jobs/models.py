"""The stored data about a job."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class JobState(models.TextChoices):
    """The states of a job."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class Job(models.Model):
    """One piece of work, its progress and what came of it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=32)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="jobs")
    arguments = models.JSONField(default=dict)
    state = models.CharField(max_length=16, choices=JobState.choices, default=JobState.QUEUED)
    progress = models.PositiveSmallIntegerField(default=0)
    """Percent."""
    log = models.TextField(blank=True)
    result = models.JSONField(null=True)
    error = models.CharField(max_length=1000, blank=True)
    cancel_requested = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"

    @property
    def is_over(self) -> bool:
        """Whether the job is over."""
        return self.state in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)
