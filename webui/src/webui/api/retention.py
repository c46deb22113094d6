"""The retention of answers to repeated requests."""

from __future__ import annotations

from datetime import datetime

from webui.api.idempotency import KEPT
from webui.api.models import IdempotencyRecord
from webui.storage.kind import Kind, past


def _expire(now: datetime) -> int:
    return past(lambda: IdempotencyRecord.objects.filter(created_at__lt=now - KEPT))


KINDS = (
    Kind(
        "answers by Idempotency-Key",
        lambda: IdempotencyRecord,
        "24 hours",
        lambda: IdempotencyRecord.objects.exclude(status=0).order_by("created_at"),
        _expire,
        most_rows=20_000,
        most_bytes=64 << 20,
        payload=("body", "headers"),
    ),
)
