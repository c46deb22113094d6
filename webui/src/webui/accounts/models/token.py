"""A key for programs that use the API."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class ApiToken(models.Model):
    """A Bearer token. Only its SHA-256 is stored: it is 256 random bits, so nothing slower is needed."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=64)
    prefix = models.CharField(max_length=16)
    """Shown in lists, to tell tokens apart; not part of the secret."""
    digest = models.CharField(max_length=64, unique=True)
    write = models.BooleanField(default=False)
    """Scope: read only, or read and write. The user's role limits both."""
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")

    def __str__(self) -> str:
        return f"{self.prefix} ({self.name})"

    @property
    def is_usable(self) -> bool:
        """Neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > timezone.now())
