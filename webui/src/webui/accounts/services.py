"""Changes to users. Each needs an admin, except one's own password."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from appliance.errors import Conflict, Problem, ValidationFailed
from webui.accounts import audit
from webui.accounts.actor import Actor
from webui.accounts.models import User
from webui.accounts.roles import Role

FIRST_ADMINISTRATOR = "admin"
"""The user that a new router has."""


def create_user(actor: Actor, username: str, password: str, role: str) -> User:
    """A new user. Raises ValidationFailed with pointers /username, /password or /role."""
    actor.require(Role.ADMIN)
    _check_role(role)
    _check_password(password, User(username=username))
    try:
        user = User.objects.create_user(username, password, role)
    except ValidationError as error:
        raise ValidationFailed(
            [Problem(f"/{name}", text) for name, texts in error.message_dict.items() for text in texts]
        ) from None
    audit.record(actor, "user.create", username, detail=f"role {role}")
    return user


def set_role(actor: Actor, user: User, role: str) -> None:
    """Give the user another role. Raises Conflict when no active admin would be left."""
    actor.require(Role.ADMIN)
    _check_role(role)
    with transaction.atomic():
        if role != Role.ADMIN:
            _keep_an_admin(user)
        user.role = role
        user.save(update_fields=["role"])
    audit.record(actor, "user.role", user.username, detail=f"role {role}")


def set_password(actor: Actor, user: User, password: str) -> None:
    """Set a password; all sessions of the user end. One may set one's own."""
    if user.pk != actor.user.pk:
        actor.require(Role.ADMIN)
    _check_password(password, user)
    user.set_password(password)
    user.save(update_fields=["password"])
    if user.username == FIRST_ADMINISTRATOR and settings.STATE_DIR is not None:
        # The console stops showing the password that was made for the first start.
        (settings.STATE_DIR / "first-password-changed").touch()
    audit.record(actor, "user.password", user.username)


def set_active(actor: Actor, user: User, active: bool) -> None:
    """Let a user in or keep them out, tokens included. Raises Conflict when no active admin would be left."""
    actor.require(Role.ADMIN)
    with transaction.atomic():
        if not active:
            _keep_an_admin(user)
        user.is_active = active
        user.save(update_fields=["is_active"])
    audit.record(actor, "user.enable" if active else "user.disable", user.username)


def delete_user(actor: Actor, user: User) -> None:
    """Remove a user with their tokens and change sets. Raises Conflict for the last active admin."""
    actor.require(Role.ADMIN)
    name = user.username
    with transaction.atomic():
        _keep_an_admin(user)
        user.delete()
    audit.record(actor, "user.delete", name)


def _check_role(role: str) -> None:
    if role not in Role.values:
        raise ValidationFailed([Problem("/role", f"must be one of {', '.join(Role.values)}")])


def _check_password(password: str, user: User) -> None:
    if len(password) > 256 or "\x00" in password:
        raise ValidationFailed([Problem("/password", "must be at most 256 characters of text")])
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise ValidationFailed([Problem("/password", text) for text in error.messages]) from None


def _keep_an_admin(user: User) -> None:
    """Raise Conflict if `user` is the only active admin; the rows are locked until the transaction ends."""
    others = User.objects.select_for_update().filter(role=Role.ADMIN, is_active=True).exclude(pk=user.pk)
    if user.role == Role.ADMIN and user.is_active and not list(others[:1]):
        raise Conflict(f"{user.username} is the only active admin.")
