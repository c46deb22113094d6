"""Answers kept for repeated requests."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class IdempotencyRecord(models.Model):
    """One use of an ``Idempotency-Key`` by a user; ``status`` is 0 while the request runs."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    """SHA-256 of method, path, query and body: a key belongs to one request."""
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    status = models.PositiveSmallIntegerField(default=0)
    body = models.JSONField(default=dict)
    headers = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="one_use_of_a_key")]

    def __str__(self) -> str:
        return f"{self.user} {self.key}"
