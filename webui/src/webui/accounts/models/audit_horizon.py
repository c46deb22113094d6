"""The entry up to which the audit log may currently be shortened."""

from __future__ import annotations

from django.db import models


class AuditHorizon(models.Model):
    """One row. The database lets no entry with a higher id go; outside of the shortening it is 0."""

    up_to = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"entries up to {self.up_to}"
