"""Logins and logouts in the audit log. Django announces them only by signals."""

from __future__ import annotations

from typing import Any

from axes.signals import user_locked_out
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest

from webui.accounts import audit
from webui.accounts.models import User
from webui.accounts.sign_in_tally import tally
from webui.http.client_address import client_address


def connect() -> None:
    """Listen from now on."""
    user_logged_in.connect(_logged_in, dispatch_uid="audit")
    user_logged_out.connect(_logged_out, dispatch_uid="audit")
    user_login_failed.connect(_failed, dispatch_uid="audit")
    user_locked_out.connect(_locked_out, dispatch_uid="audit")


def _logged_in(request: HttpRequest, user: User, **_: Any) -> None:
    audit.record_login(user.username, client_address(request), "login", "done")


def _logged_out(request: HttpRequest, user: User | None, **_: Any) -> None:
    if user is not None:
        audit.record_login(user.username, client_address(request), "logout", "done")


def _failed(credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    if getattr(request, "axes_locked_out", False):
        return  # announced again, as a lock-out
    address = "local" if request is None else client_address(request)
    tally.failed(str(credentials.get("username", "")), address)


def _locked_out(request: HttpRequest, username: str | None, **_: Any) -> None:
    tally.refused(username or "", client_address(request))
