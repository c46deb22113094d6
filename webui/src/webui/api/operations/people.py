"""Users, their tokens, and what they did."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from django.db import transaction
from django.http import HttpRequest, JsonResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from webui.accounts import services as accounts
from webui.accounts import tokens
from webui.accounts.models import ApiToken, AuditEntry, User
from webui.accounts.roles import Role
from webui.api.auth import actor, needs
from webui.api.find import Number
from webui.api.paging import PLAIN_TEXT, Limit, Offset, Paged, page_of
from webui.api.schemas import AuditOut, Strict, TokenOut, UserOut

router = Router()

RoleName = Annotated[str, Field(description="viewer, operator, engineer or admin.", max_length=16)]
Password = Annotated[
    str, Field(min_length=1, max_length=256, json_schema_extra={"format": "password", "writeOnly": True})
]


CurrentPassword = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=256,
        description="Your own password. Needed to change your own password, and with a token for whatever "
        "gives somebody access.",
        json_schema_extra={"format": "password", "writeOnly": True},
    ),
]


class NewUser(Strict):
    """A user to be made."""

    username: str = Field(min_length=1, max_length=32, pattern=r"^[a-z][a-z0-9._-]{0,31}$")
    password: Password
    role: RoleName = Role.VIEWER.value
    current_password: CurrentPassword = None


class UserChange(Strict):
    """What to change about a user; what is left out stays."""

    role: RoleName | None = None
    password: Password | None = None
    is_active: bool | None = None
    current_password: CurrentPassword = None
    end_tokens: bool = Field(True, description="End the user's API tokens with their old password.")


class OwnPassword(Strict):
    """A new password of one's own."""

    current_password: Password
    password: Password
    end_tokens: bool = Field(True, description="End your API tokens with the old password.")


class PasswordChanged(Schema):
    """What a new password put an end to."""

    sessions_ended: bool = Field(description="All sessions of the user, this one included.")
    tokens_ended: int = Field(description="API tokens that could still be used.")


class UserChanged(UserOut):
    """A user, and what a new password put an end to; null without one."""

    password_changed: PasswordChanged | None


class NewToken(Strict):
    """A token to be made."""

    name: str = Field(min_length=1, max_length=64)
    write: bool = Field(False, description="Let it write, as far as the user's role goes.")
    expires_at: datetime | None = Field(None, description="With its time zone; null for never.")
    user: int | None = Field(None, ge=1, le=2**31 - 1, description="For another user; admins only.")


class TokenMade(TokenOut):
    """A new token with its secret, which is not shown again."""

    token: str


@router.get(
    "/users", auth=needs(Role.ADMIN), response=Paged[UserOut], tags=["users"], operation_id="list_users"
)
def list_users(request: HttpRequest, limit: Limit, offset: Offset) -> Any:
    """All users."""
    return page_of(request, User.objects.all(), limit, offset)


@router.post(
    "/users", auth=needs(Role.ADMIN), response={201: UserOut}, tags=["users"], operation_id="create_user"
)
def create_user(request: HttpRequest, body: NewUser) -> Any:
    """A new user."""
    who = actor(request)
    confirmed = accounts.confirm(who, body.current_password)
    user = accounts.create_user(who, body.username, body.password, body.role, confirmed)
    return Status(201, user)


@router.get(
    "/users/{number}", auth=needs(Role.ADMIN), response=UserOut, tags=["users"], operation_id="get_user"
)
def get_user(request: HttpRequest, number: Number) -> Any:  # noqa: ARG001 - ninja's signature
    """One user."""
    return accounts.find_user(number)


@router.patch(
    "/users/{number}",
    auth=needs(Role.ADMIN),
    response=UserChanged,
    tags=["users"],
    operation_id="update_user",
)
def update_user(request: HttpRequest, number: Number, body: UserChange) -> Any:
    """Change role, password or whether the user may sign in. A new password ends sessions and tokens."""
    user, who = accounts.find_user(number), actor(request)
    confirmed = accounts.confirm(who, body.current_password)
    changed = None
    with transaction.atomic():
        if body.password is not None:
            ended = accounts.set_password(who, user, body.password, confirmed, body.end_tokens)
            changed = {"sessions_ended": True, "tokens_ended": ended.tokens}
        if body.role is not None:
            accounts.set_role(who, user, body.role, confirmed)
        if body.is_active is not None:
            accounts.set_active(who, user, body.is_active, confirmed)
    return {**UserOut.from_orm(user).model_dump(), "password_changed": changed}


@router.post(
    "/me/password",
    auth=needs(Role.VIEWER),
    response=PasswordChanged,
    tags=["users"],
    operation_id="set_own_password",
)
def set_own_password(request: HttpRequest, body: OwnPassword) -> Any:
    """A new password of one's own. It ends all one's sessions and tokens."""
    who = actor(request)
    confirmed = accounts.confirm(who, body.current_password)
    ended = accounts.set_password(who, who.user, body.password, confirmed, body.end_tokens)
    return {"sessions_ended": True, "tokens_ended": ended.tokens}


@router.delete(
    "/users/{number}",
    auth=needs(Role.ADMIN),
    response={204: None},
    tags=["users"],
    operation_id="delete_user",
)
def delete_user(request: HttpRequest, number: Number) -> Any:
    """Remove a user with their tokens and change sets."""
    accounts.delete_user(actor(request), accounts.find_user(number))
    return Status(204, None)


Everyone = Annotated[bool, Query(False, alias="all", description="Tokens of all users; admins only.")]


@router.get(
    "/tokens", auth=needs(Role.VIEWER), response=Paged[TokenOut], tags=["tokens"], operation_id="list_tokens"
)
def list_tokens(request: HttpRequest, limit: Limit, offset: Offset, everyone: Everyone) -> Any:
    """One's own tokens, or everybody's."""
    who = actor(request)
    rows = ApiToken.objects.select_related("user")
    if everyone:
        who.require(Role.ADMIN)
    else:
        rows = rows.filter(user=who.user)
    return page_of(request, rows, limit, offset)


@router.post(
    "/tokens",
    auth=needs(Role.VIEWER),
    response={201: TokenMade},
    tags=["tokens"],
    operation_id="create_token",
)
def create_token(request: HttpRequest, body: NewToken) -> Any:
    """A new token, made from a session: a token makes none. Its text is in this answer and nowhere else."""
    who = actor(request)
    if body.user is not None and body.user != who.user.pk:
        who.require(Role.ADMIN)
    user = who.user if body.user is None else accounts.find_user(body.user)
    token, text = tokens.create(who, user, body.name, body.write, body.expires_at)
    return JsonResponse({**TokenOut.from_orm(token).model_dump(mode="json"), "token": text}, status=201)


@router.delete(
    "/tokens/{number}",
    auth=needs(Role.VIEWER),
    response={204: None},
    tags=["tokens"],
    operation_id="revoke_token",
)
def revoke_token(request: HttpRequest, number: Number) -> Any:
    """End a token."""
    tokens.revoke(actor(request), tokens.of_number(number))
    return Status(204, None)


class AuditQuery(Schema):
    """Which entries."""

    username: str | None = Field(None, max_length=64, pattern=PLAIN_TEXT, description="Only of this user.")
    action: str | None = Field(
        None,
        max_length=64,
        pattern=PLAIN_TEXT,
        description="Only of this action, or of those that begin with this.",
    )


@router.get(
    "/audit", auth=needs(Role.ADMIN), response=Paged[AuditOut], tags=["audit"], operation_id="list_audit"
)
def list_audit(request: HttpRequest, limit: Limit, offset: Offset, query: Query[AuditQuery]) -> Any:
    """The audit log, newest first."""
    rows = AuditEntry.objects.all()
    if query.username is not None:
        rows = rows.filter(username=query.username)
    if query.action is not None:
        rows = rows.filter(action__startswith=query.action)
    return page_of(request, rows, limit, offset)
