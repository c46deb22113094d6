"""A user's candidate configuration."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class ChangeState(models.TextChoices):
    """The states of a change set."""

    OPEN = "open", "Open"
    COMMITTED = "committed", "Committed"
    DISCARDED = "discarded", "Discarded"


class ChangeSet(models.Model):
    """A base revision and the document made of it. Secrets in both documents are sealed by the agent."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="change_sets")
    title = models.CharField(max_length=120, blank=True)
    state = models.CharField(max_length=16, choices=ChangeState.choices, default=ChangeState.OPEN)
    base_revision = models.PositiveIntegerField()
    base_document = models.JSONField()
    base_digest = models.CharField(max_length=64, blank=True, db_default="")
    """Of ``base_document`` while that is just what a revision holds; empty where it is not, or not known."""
    document = models.JSONField()
    version = models.PositiveIntegerField(default=1)
    """Raised by every edit."""
    digest = models.CharField(max_length=64)
    """Of ``document``; the change set's ETag."""
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    committed_revision = models.PositiveIntegerField(null=True, blank=True)
    commit_request = models.CharField(max_length=64, blank=True)
    """Request id of a commit whose outcome is not known yet."""

    changes = models.JSONField(default=list, db_default=[])
    """What a closed one changed, as in the audit log; its documents are empty then."""
    note = models.CharField(max_length=200, blank=True, db_default="")
    """Why it was closed, where nobody asked for it."""

    class Meta:
        ordering = ("-updated_at", "-id")
        indexes = [models.Index(fields=["owner", "state"])]

    def __str__(self) -> str:
        return f"change set {self.pk} of {self.owner}"

    @property
    def is_open(self) -> bool:
        """Whether it can still be edited and committed."""
        return self.state == ChangeState.OPEN

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return bool(self.document == self.base_document) if self.is_open else not self.changes
