"""The configuration and every path under it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import Path, Query, Router, Schema
from pydantic import Field

from appliance.config.edit import Edit
from appliance.config.pointer import split
from appliance.config.secrets_in import mask
from appliance.config.set_commands import set_commands
from appliance.errors import Conflict, Stale
from webui.accounts.roles import Role
from webui.api.auth import actor, needs
from webui.api.bodies import media_type, read_json
from webui.api.commits import CommitChoice, commit_answer
from webui.api.find import change_set
from webui.api.idempotency import Answer, once
from webui.api.schemas import ChangeSetOut, PreviewOut
from webui.changes import documents, running
from webui.changes import services as changes
from webui.changes.commits import commit_edit
from webui.errors import RequestProblem

router = Router(tags=["config"])

MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
_DIGEST_LENGTH = 64

Pointer = Annotated[
    str,
    Path(
        description="JSON pointer (RFC 6901) without its first slash; a slash within a name is written ~1.",
        example="interfaces/wan0",
    ),
]


class ChangeQuery(Schema):
    """Which document is read, and how it is written down."""

    change: int | None = Field(None, ge=1, le=2**31 - 1, description="Read this change set's candidate.")
    format: Literal["json", "set"] = Field(
        "json", description="JSON, or as text the commands of the command line that make it."
    )


class WriteQuery(CommitChoice):
    """How a write is made."""

    change: int | None = Field(None, ge=1, le=2**31 - 1, description="Collect the edit in this change set.")
    dry_run: bool = Field(False, description="Change nothing; answer with the plan and its impact.")


@router.get("/config", auth=needs(Role.VIEWER), operation_id="get_config")
def get_config(request: HttpRequest, query: Query[ChangeQuery]) -> HttpResponse:
    """The running configuration, or a change set's. Defaults are left out and secrets masked."""
    return _read(request, "", query)


@router.get("/config/{path:pointer}", auth=needs(Role.VIEWER), operation_id="get_config_at")
def get_config_at(request: HttpRequest, pointer: Pointer, query: Query[ChangeQuery]) -> HttpResponse:
    """What is at a path of the configuration."""
    return _read(request, f"/{pointer}", query)


@router.put("/config", auth=needs(Role.ENGINEER), operation_id="put_config")
def put_config(request: HttpRequest, query: Query[WriteQuery]) -> HttpResponse:
    """Replace the whole configuration. A masked secret keeps what is stored."""
    return _put(request, "", query)


@router.put("/config/{path:pointer}", auth=needs(Role.ENGINEER), operation_id="put_config_at")
def put_config_at(request: HttpRequest, pointer: Pointer, query: Query[WriteQuery]) -> HttpResponse:
    """Create or replace what is at a path."""
    return _put(request, f"/{pointer}", query)


@router.patch("/config", auth=needs(Role.ENGINEER), operation_id="patch_config")
def patch_config(request: HttpRequest, query: Query[WriteQuery]) -> HttpResponse:
    """Patch the configuration (RFC 7396 or RFC 6902)."""
    return _patch(request, "", query)


@router.patch("/config/{path:pointer}", auth=needs(Role.ENGINEER), operation_id="patch_config_at")
def patch_config_at(request: HttpRequest, pointer: Pointer, query: Query[WriteQuery]) -> HttpResponse:
    """Patch what is at a path (RFC 7396 or RFC 6902)."""
    return _patch(request, f"/{pointer}", query)


@router.delete("/config/{path:pointer}", auth=needs(Role.ENGINEER), operation_id="delete_config_at")
def delete_config_at(request: HttpRequest, pointer: Pointer, query: Query[WriteQuery]) -> HttpResponse:
    """Remove what is at a path; a setting goes back to its default."""
    return _write(request, query, Edit(kind="remove", pointer=f"/{pointer}"))


def _read(request: HttpRequest, pointer: str, query: ChangeQuery) -> HttpResponse:
    if query.change is not None:
        change = change_set(query.change)
        if not change.is_open:
            raise Conflict(f"Change set {change.pk} is {change.state}: its document is not kept.")
        document, etag = change.document, change.digest
        extra = {"Millrace-Base-Revision": str(change.base_revision)}
    else:
        now = running.now()
        document, etag = now.sealed, now.digest
        extra = {"Millrace-Revision": str(now.revision)}
    headers = {"ETag": f'"{etag}"', **extra}
    pointer = documents.canonical_pointer(pointer, document)
    value = mask(documents.value_at(document, pointer), pointer)
    if _names(request.headers.get("If-None-Match"), etag):
        return HttpResponse(status=304, headers=headers)
    if query.format == "set":
        text = "".join(f"{line}\n" for line in set_commands(value, split(pointer)))
        return HttpResponse(text, content_type="text/plain; charset=utf-8", headers=headers)
    return JsonResponse(value, safe=False, headers=headers)


def _put(request: HttpRequest, pointer: str, query: WriteQuery) -> HttpResponse:
    value = read_json(request, "application/json")
    return _write(request, query, Edit(kind="put", pointer=pointer, value=value))


def _patch(request: HttpRequest, pointer: str, query: WriteQuery) -> HttpResponse:
    patch = read_json(request, MERGE_PATCH, JSON_PATCH)
    is_json_patch = media_type(request) == JSON_PATCH
    kind: Literal["json_patch", "merge_patch"] = "json_patch" if is_json_patch else "merge_patch"
    return _write(request, query, Edit(kind=kind, pointer=pointer, value=patch))


def _write(request: HttpRequest, query: WriteQuery, edit: Edit) -> HttpResponse:
    if query.change is not None and query.is_made:
        named = ", ".join(CommitChoice.model_fields)
        raise RequestProblem(400, f"{named} belong to the commit of the change set.")
    documents.require_pointer(edit.pointer)
    documents.check_depth(edit.value)
    if query.dry_run:
        return JsonResponse(_preview(request, query, edit))
    if query.change is not None:
        return once(request, actor(request), lambda _: _collect(request, query.change or 0, edit))
    return once(request, actor(request), lambda request_id: _commit(request, query, edit, request_id))


def _preview(request: HttpRequest, query: WriteQuery, edit: Edit) -> dict[str, Any]:
    address = actor(request).router_address
    if query.change is None:
        with _refusing_stale():
            preview = changes.preview_edit(edit, _tags(request), address)
    else:
        change = change_set(query.change)
        _match(request, change.digest)
        change.document = documents.edited(change.document, edit)
        preview = changes.preview(change, address)
    return PreviewOut.model_validate(asdict(preview)).model_dump(mode="json")


def _collect(request: HttpRequest, number: int, edit: Edit) -> Answer:
    change = change_set(number)
    _match(request, change.digest)
    if not change.is_open:
        raise Conflict(f"Change set {change.pk} is {change.state}.")
    changes.apply(actor(request), change, documents.edited(change.document, edit))
    return Answer(200, ChangeSetOut.from_orm(change).model_dump(mode="json"), {"ETag": f'"{change.digest}"'})


def _commit(request: HttpRequest, query: WriteQuery, edit: Edit, request_id: str) -> Answer:
    with _refusing_stale():
        options = query.options(request, request_id)
        return commit_answer(commit_edit(actor(request), edit, _tags(request), options))


def _match(request: HttpRequest, digest: str) -> None:
    tags = _tags(request)
    if tags is not None and digest not in tags:
        raise _other_document(digest)


@contextmanager
def _refusing_stale() -> Iterator[None]:
    try:
        yield
    except Stale as error:
        raise _other_document(error.digest) from None


def _other_document(digest: str) -> RequestProblem:
    message = "The configuration is no longer the one that If-Match names."
    return RequestProblem(412, message, {"ETag": f'"{digest}"'})


def _tags(request: HttpRequest) -> list[str] | None:
    """The digests of which one has to run for this write; None where any may."""
    tags = _entity_tags(request.headers.get("If-Match", "*"))
    return (
        None if "*" in tags else [digest for tag in tags if len(digest := tag.strip('"')) == _DIGEST_LENGTH]
    )


def _entity_tags(condition: str) -> list[str]:
    """A list of entity tags (RFC 9110)."""
    return [tag.strip().removeprefix("W/") for tag in condition.split(",")]


def _names(condition: str | None, digest: str) -> bool:
    """Whether a list of entity tags holds this digest."""
    if condition is None:
        return False
    tags = _entity_tags(condition)
    return "*" in tags or f'"{digest}"' in tags
