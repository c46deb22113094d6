"""Who did what, when, from where, and with what result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.db import models, transaction

from webui.accounts.models.audit_horizon import AuditHorizon


class AppendOnly(Exception):
    """The audit log is never changed; only its retention removes entries older than the limit."""


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    """Reads and appends; the database itself also refuses everything else (see the migrations)."""

    def update(self, **kwargs: Any) -> int:  # noqa: ARG002 - Django's signature
        """Refused."""
        raise AppendOnly("audit entries are never changed")

    def delete(self) -> tuple[int, dict[str, int]]:
        """Refused."""
        raise AppendOnly("audit entries are never deleted")

    def remove(self, keys: Sequence[int]) -> None:
        """Delete these entries, which are older than the log's retention. For the retention only."""
        if not keys:
            return
        with transaction.atomic(using=self.db):
            # The database itself compares: nothing can be deleted outside of this transaction.
            AuditHorizon.objects.update_or_create(pk=1, defaults={"up_to": max(keys)})
            super().filter(pk__in=keys)._raw_delete(self.db)
            AuditHorizon.objects.filter(pk=1).update(up_to=0)


class AuditEntry(models.Model):
    """One action. No foreign key: the entry outlives the user."""

    time = models.DateTimeField(auto_now_add=True, db_index=True)
    username = models.CharField(max_length=64, db_index=True)
    address = models.CharField(max_length=64)
    """Client address."""
    via = models.CharField(max_length=16)
    """page, session, token, local or cli."""
    action = models.CharField(max_length=64, db_index=True)
    """Such as ``config.commit``."""
    target = models.CharField(max_length=256, blank=True)
    """A path, a user, a token's prefix."""
    changes = models.JSONField(default=list)
    """``{"op", "path", "before", "after"}`` each; secrets masked."""
    result = models.CharField(max_length=16)
    """done, failed or refused."""
    detail = models.CharField(max_length=1000, blank=True)

    objects: ClassVar[Any] = AuditQuerySet.as_manager()

    class Meta:
        ordering = ("-time", "-id")
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.time:%Y-%m-%d %H:%M:%S} {self.username} {self.action}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Append. Raises AppendOnly for an entry that is already stored."""
        if not self._state.adding:
            raise AppendOnly("audit entries are never changed")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:  # noqa: ARG002 - Django's signature
        """Refused."""
        raise AppendOnly("audit entries are never deleted")
