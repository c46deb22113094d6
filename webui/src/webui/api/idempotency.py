"""``Idempotency-Key``: a request repeated with its key is carried out once, and answered the same each
time.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from appliance.errors import AgentUnavailable
from webui.accounts.actor import Actor
from webui.api.models import IdempotencyRecord
from webui.errors import RequestProblem

KEPT = timedelta(hours=24)
_ABANDONED = timedelta(seconds=60)
"""A request that runs longer than this has lost its process; the agent knows its outcome by request id."""


@dataclass(frozen=True)
class Answer:
    """A response that can be kept."""

    status: int
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)

    def to_response(self) -> HttpResponse:
        """As HTTP."""
        return JsonResponse(self.body, status=self.status, headers=self.headers)


def once(request: HttpRequest, actor: Actor, act: Callable[[str], Answer]) -> HttpResponse:
    """Call `act` with the request id for the agent; a key seen before gives the stored answer.

    Only answers are kept. A failed request changed nothing and may be tried again with its key. So may a
    request that the agent did not answer: it is carried out only once. Raises RequestProblem: 400 for an
    invalid key, 409 while the first request runs, 422 when the key belongs to another request.
    """
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return act(str(uuid.uuid4())).to_response()
    if not 1 <= len(key) <= 255 or not key.isascii() or not key.isprintable():
        raise RequestProblem(400, "Idempotency-Key has to be 1 to 255 printable ASCII characters.")
    record, fresh = _record(request, actor, key)
    if not fresh:
        headers = {**record.headers, "Idempotency-Replayed": "true"}
        return Answer(record.status, record.body, headers).to_response()
    try:
        # The same id if this process is lost, another one after a failure.
        answer = act(str(uuid.uuid5(uuid.NAMESPACE_OID, f"{record.pk} {record.fingerprint} {key}")))
    except AgentUnavailable:
        # It may have been carried out: when the same request is repeated, its request id gives the outcome.
        IdempotencyRecord.objects.filter(pk=record.pk).update(created_at=timezone.now() - 2 * _ABANDONED)
        raise
    except Exception:
        record.delete()
        raise
    record.status, record.body, record.headers = answer.status, answer.body, answer.headers
    record.save(update_fields=["status", "body", "headers"])
    return answer.to_response()


def _record(request: HttpRequest, actor: Actor, key: str) -> tuple[IdempotencyRecord, bool]:
    """The record of the key, and whether the request still has to be carried out."""
    parts = (
        request.method or "",
        request.get_full_path(),
        request.content_type or "",
        request.headers.get("If-Match", ""),
    )
    fingerprint = hashlib.sha256(
        "\0".join(parts).encode(errors="surrogateescape") + b"\0" + request.body
    ).hexdigest()
    now = timezone.now()
    IdempotencyRecord.objects.filter(user=actor.user, key=key, created_at__lt=now - KEPT).delete()
    try:
        with transaction.atomic():
            return IdempotencyRecord.objects.create(user=actor.user, key=key, fingerprint=fingerprint), True
    except IntegrityError:
        record = IdempotencyRecord.objects.filter(user=actor.user, key=key).first()
    if record is None:  # it failed and was just removed
        raise RequestProblem(409, "The request with this Idempotency-Key has just failed; try again.")
    if record.fingerprint != fingerprint:
        raise RequestProblem(422, "This Idempotency-Key was used for another request.")
    if record.status == 0 and now - record.created_at > _ABANDONED:
        return record, True
    if record.status == 0:
        raise RequestProblem(
            409, "The request with this Idempotency-Key is still running.", {"Retry-After": "1"}
        )
    return record, False
