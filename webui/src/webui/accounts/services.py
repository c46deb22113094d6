"""Changes to users. Each needs an admin, except a change of one's own password.

A token is a key that may be stolen, so it cannot grant access. A new user, password or token, a higher role,
and letting somebody in again need a person, who signed in or gives the present password with the request.
Actions that take access away need none.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from appliance.errors import Conflict, NotFound, Problem, ValidationFailed
from webui.accounts import audit, tokens
from webui.accounts.actor import Actor
from webui.accounts.attempt_limits import Attempts, Limit
from webui.accounts.hashing_queue import QueueFull, queue
from webui.accounts.models import User
from webui.accounts.roles import Role
from webui.errors import Forbidden, RequestProblem

FIRST_ADMINISTRATOR = "admin"
"""The user that exists on a new router."""
MAX_USERS = 1000
_own_passwords = Attempts(Limit(10, 30.0), time.monotonic)
"""Limits wrong present passwords of one user, so that a stolen session or token cannot guess for ever."""


@dataclass(frozen=True)
class Ended:
    """What a new password ended: all sessions of the user, and this many API tokens."""

    tokens: int


def require_person(actor: Actor, confirmed: bool) -> None:
    """Raise Forbidden unless a person acts: one who signed in, or a token's owner who gave the password."""
    if actor.via == "token" and not confirmed:
        raise Forbidden(
            "A token cannot give anybody access: sign in, or give its owner's password as current_password."
        )


def confirm(actor: Actor, password: str | None) -> bool:
    """Whether the actor's password was given with the request; False without one.

    Raises ValidationFailed with /current_password for a wrong password, RequestProblem 429 for too many
    guesses. Call it outside a transaction, so that a wrong one stays in the audit log.
    """
    if password is None:
        return False
    wait_s = _own_passwords.take(str(actor.user.pk))
    if wait_s:
        raise RequestProblem(
            429, "Too many wrong passwords.", {"Retry-After": str(math.ceil(wait_s))}, "/current_password"
        )
    try:
        with queue.place(f"user {actor.user.pk}", known=True):
            right = actor.user.check_password(password)
    except QueueFull:
        raise RequestProblem(503, "Too many passwords are checked just now.", {"Retry-After": "1"}) from None
    if not right:
        audit.record(actor, "user.password.check", actor.name, result="failed")
        raise ValidationFailed([Problem("/current_password", "The present password is wrong.")])
    _own_passwords.refund(str(actor.user.pk))
    return True


def find_user(number: int) -> User:
    """The user of this number. Raises NotFound."""
    found = User.objects.filter(pk=number).first()
    if found is None:
        raise NotFound(f"There is no user {number}.")
    return found


def create_user(actor: Actor, username: str, password: str, role: str, confirmed: bool = False) -> User:
    """A new user. Raises ValidationFailed with pointers /username, /password or /role."""
    actor.require(Role.ADMIN)
    require_person(actor, confirmed)
    _check_role(role)
    _check_password(password, User(username=username))
    if User.objects.count() >= MAX_USERS:
        raise Conflict(f"There are {MAX_USERS} users already: remove one.")
    try:
        user = User.objects.create_user(username, password, role)
    except ValidationError as error:
        raise ValidationFailed(
            [Problem(f"/{name}", text) for name, texts in error.message_dict.items() for text in texts]
        ) from None
    audit.record(actor, "user.create", username, detail=f"role {role}")
    return user


def set_role(actor: Actor, user: User, role: str, confirmed: bool = False) -> None:
    """Give the user another role from the next request on. Raises Conflict for the last active admin."""
    actor.require(Role.ADMIN)
    _check_role(role)
    if not Role(user.role).includes(Role(role)):
        require_person(actor, confirmed)
    with transaction.atomic():
        if role != Role.ADMIN:
            _keep_an_admin(user)
        user.role = role
        user.save(update_fields=["role"])
    audit.record(actor, "user.role", user.username, detail=f"role {role}")


def set_password(
    actor: Actor,
    user: User,
    password: str,
    confirmed: bool = False,
    end_tokens: bool = True,
) -> Ended:
    """Set a password. All sessions of the user end, and all their tokens unless the caller keeps them.

    Changing one's own needs the present one. Raises ValidationFailed with /password or /current_password.
    """
    if user.pk != actor.user.pk:
        actor.require(Role.ADMIN)
        require_person(actor, confirmed)
    elif actor.via != "local" and not confirmed:
        raise ValidationFailed([Problem("/current_password", "is needed to change one's own password")])
    _check_password(password, user)
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])
        ended = Ended(tokens.revoke_all(user) if end_tokens else 0)
    if user.username == FIRST_ADMINISTRATOR and settings.STATE_DIR is not None:
        # The console stops showing the password that was generated for the first start.
        (settings.STATE_DIR / "first-password-changed").touch()
    audit.record(
        actor,
        "user.password",
        user.username,
        detail=f"all sessions ended; {ended.tokens} tokens ended"
        if end_tokens
        else "all sessions ended; tokens stay",
    )
    return ended


def set_active(actor: Actor, user: User, active: bool, confirmed: bool = False) -> None:
    """Allow or forbid a user to sign in, tokens included. Raises Conflict when no active admin would be
    left.
    """
    actor.require(Role.ADMIN)
    if active and not user.is_active:
        require_person(actor, confirmed)
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
