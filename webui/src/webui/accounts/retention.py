"""The retention of users, tokens and the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from webui.accounts.models import ApiToken, AuditEntry, AuditHorizon, User
from webui.accounts.services import MAX_USERS
from webui.accounts.tokens import MAX_TOKENS
from webui.storage.kind import Kind, Rows, past

AUDIT_KEPT = timedelta(days=365)
FAILURES_KEPT = timedelta(days=30)
TOKENS_KEPT = timedelta(days=90)
_FAILURE = Q(action="login") & ~Q(result="done")


def _delete(rows: Rows, keys: Sequence[Any]) -> None:  # noqa: ARG001 - as every kind's
    AuditEntry.objects.remove(keys)


def _entries() -> Rows:
    return AuditEntry.objects.exclude(_FAILURE).order_by("id")


def _failures() -> Rows:
    return AuditEntry.objects.filter(_FAILURE).order_by("id")


def _ended() -> Rows:
    over = Q(revoked_at__isnull=False) | Q(expires_at__lte=timezone.now())
    return ApiToken.objects.filter(over).order_by("created_at", "id")


def _expire_tokens(now: datetime) -> int:
    long_ago = now - TOKENS_KEPT
    return past(
        lambda: ApiToken.objects.filter(Q(revoked_at__lt=long_ago) | Q(expires_at__lt=long_ago)).order_by(
            "id"
        )
    )


KINDS = (
    Kind("users", lambda: User, "until removed", bounded_by=f"at most {MAX_USERS}"),
    Kind(
        "ended API tokens",
        lambda: ApiToken,
        f"{TOKENS_KEPT.days} days; usable ones until they end, at most {MAX_TOKENS} of a user",
        _ended,
        _expire_tokens,
        most_rows=5000,
    ),
    Kind(
        "audit log",
        lambda: AuditEntry,
        f"{AUDIT_KEPT.days} days",
        _entries,
        lambda now: past(lambda: _entries().filter(time__lt=now - AUDIT_KEPT), _delete),
        most_rows=200_000,
        most_bytes=256 << 20,
        payload=("changes", "detail", "target"),
        delete=_delete,
    ),
    # Kept separately: a guesser of passwords must not push out the entries of administrators.
    Kind(
        "failed logins in the audit log",
        lambda: AuditEntry,
        f"{FAILURES_KEPT.days} days",
        _failures,
        lambda now: past(lambda: _failures().filter(time__lt=now - FAILURES_KEPT), _delete),
        most_rows=20_000,
        delete=_delete,
    ),
    Kind("mark of the audit log", lambda: AuditHorizon, "for ever", bounded_by="one row"),
)
