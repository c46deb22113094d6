"""Making, checking and revoking API tokens."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.utils import timezone

from appliance.errors import NotFound, Problem, ValidationFailed
from webui.accounts import audit
from webui.accounts.actor import Actor
from webui.accounts.models import ApiToken, User
from webui.accounts.ready_lookup import ReadyLookup
from webui.accounts.roles import Role
from webui.errors import Forbidden

_by_digest = ReadyLookup(ApiToken, "digest", "user")
_USED_EVERY = timedelta(minutes=1)
MAX_TOKENS = 100
"""Usable tokens one user may have."""


def create(
    actor: Actor, user: User, name: str, write: bool, expires_at: datetime | None
) -> tuple[ApiToken, str]:
    """A new token and its text, which cannot be shown again. Only admins make tokens for others.

    A token cannot make another: a stolen one ends when it expires or is revoked, and leaves nothing behind.
    """
    if actor.via == "token":
        raise Forbidden("A token cannot make tokens. Sign in to make one.")
    if user.pk != actor.user.pk:
        actor.require(Role.ADMIN)
    name = name.strip()
    if not name or len(name) > 64 or not name.isprintable():
        raise ValidationFailed([Problem("/name", "must be 1 to 64 printable characters")])
    if expires_at is not None and (timezone.is_naive(expires_at) or expires_at <= timezone.now()):
        raise ValidationFailed([Problem("/expires_at", "must be a time to come, with its zone")])
    usable = user.tokens.filter(revoked_at=None).exclude(expires_at__lte=timezone.now())
    if usable.count() >= MAX_TOKENS:
        raise ValidationFailed([Problem("/name", f"a user has at most {MAX_TOKENS} tokens: revoke one")])
    prefix = f"mr_{secrets.token_hex(4)}"
    text = f"{prefix}_{secrets.token_urlsafe(32)}"
    token = ApiToken.objects.create(
        user=user, name=name, prefix=prefix, digest=digest(text), write=write, expires_at=expires_at
    )
    audit.record(actor, "token.create", f"{user.username} {prefix}")
    return token, text


def of_number(number: int) -> ApiToken:
    """The token of this number. Raises NotFound."""
    found = ApiToken.objects.select_related("user").filter(pk=number).first()
    if found is None:
        raise NotFound(f"There is no token {number}.")
    return found


def revoke(actor: Actor, token: ApiToken) -> None:
    """End a token; ending it again is no error. Only admins revoke the tokens of others."""
    if token.user_id != actor.user.pk:
        actor.require(Role.ADMIN)
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        audit.record(actor, "token.revoke", f"{token.user.username} {token.prefix}")


def revoke_all(user: User) -> int:
    """End all tokens of a user; returns how many could still be used."""
    now = timezone.now()
    usable: int = user.tokens.filter(revoked_at=None).exclude(expires_at__lte=now).update(revoked_at=now)
    return usable


def find(text: str) -> ApiToken | None:
    """The usable token of an active user with this text; its last use is noted, at most once a minute."""
    if not text.startswith("mr_") or len(text) > 100 or not text.isascii():
        return None
    token = _by_digest.find(digest(text))
    if token is None or not token.is_usable or not token.user.is_active:
        return None
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > _USED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def digest(text: str) -> str:
    """The stored form of a token."""
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()
