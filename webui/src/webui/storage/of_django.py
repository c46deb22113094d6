"""The retention of the tables of Django and axes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.apps import apps
from django.conf import settings

from webui.storage.kind import Kind, past


def _model(label: str) -> Any:
    return lambda: apps.get_model(label)


def _rows(label: str, order: str, **where: Any) -> Any:
    return lambda: apps.get_model(label)._base_manager.filter(**where).order_by(order)


def _sessions(now: datetime) -> int:
    return past(_rows("sessions.Session", "expire_date", expire_date__lt=now))


def _attempts(now: datetime) -> int:
    ended = now - timedelta(hours=settings.AXES_COOLOFF_TIME)
    return past(_rows("axes.AccessAttempt", "attempt_time", attempt_time__lt=ended))


def _log(label: str) -> Any:
    """axes writes these only when configured to; rows from an earlier release are removed."""
    return lambda _: past(_rows(label, "attempt_time"))


_FIXED = "the release: one row for each model or permission of the code"

KINDS = (
    Kind(
        "sessions",
        _model("sessions.Session"),
        "12 hours after the login",
        _rows("sessions.Session", "expire_date"),
        _sessions,
        most_rows=20_000,
        most_bytes=32 << 20,
        payload=("session_data",),
    ),
    Kind(
        "failed logins that lock out",
        _model("axes.AccessAttempt"),
        "15 minutes",
        _rows("axes.AccessAttempt", "attempt_time"),
        _attempts,
        most_rows=20_000,
        most_bytes=32 << 20,
        payload=("user_agent", "get_data", "post_data", "http_accept"),
    ),
    Kind(
        "ends of lock-outs",
        _model("axes.AccessAttemptExpiration"),
        "as long as the failed login",
        _rows("axes.AccessAttemptExpiration", "expires_at"),
        most_rows=20_000,
    ),
    Kind("login log of axes", _model("axes.AccessLog"), "not kept", expire=_log("axes.AccessLog"),
         bounded_by="AXES_DISABLE_ACCESS_LOG"),
    Kind("failure log of axes", _model("axes.AccessFailureLog"), "not kept",
         expire=_log("axes.AccessFailureLog"), bounded_by="AXES_ENABLE_ACCESS_FAILURE_LOG is off"),
    *(
        Kind(name, _model(label), "for ever", bounded_by=_FIXED)
        for name, label in (
            ("models", "contenttypes.ContentType"),
            ("permissions", "auth.Permission"),
            ("groups", "auth.Group"),
        )
    ),
)  # fmt: skip
