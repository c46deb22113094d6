"""The whole configuration as text: view, download, replace, compare."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET, require_POST

from appliance.errors import AgentUnavailable, NotFound, Problem, ValidationFailed
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.api.bodies import DOCUMENT_VALUES
from webui.changes import services, whole_document
from webui.changes.chosen import CANDIDATE, RUNNING, Compared, choose, compare
from webui.ui.api_call import call, reads
from webui.ui.diff_page import diff_page
from webui.ui.diff_text import group
from webui.ui.document_text import FORMS, excerpt, form_of, whole
from webui.ui.page import look, open_change, show, tell
from webui.ui.signed_in import user_of

_OFFERED = 100
"""Revisions that the picker lists; any other is typed."""
_KEPT_CHARACTERS = 256 * 1024
"""The length of a refused paste that the page returns."""


@require_GET
@role_required(Role.VIEWER)
def configuration(request: HttpRequest) -> HttpResponse:
    """The document that ``?of=`` selects, as set commands or, with ``?as=json``, as JSON."""
    return _page(request)


def _page(request: HttpRequest, extra: dict[str, Any] | None = None, status: int = 200) -> HttpResponse:
    user, word, form = user_of(request), request.GET.get("of") or RUNNING, form_of(request.GET.get("as", ""))
    change = services.current(user)
    context: dict[str, Any] = {
        "form": form,
        "forms": FORMS,
        "of": word,
        "change": change if change is not None and not change.is_empty else None,
        "offered": _offered(),
        "away": "",
        "api_calls": (
            *reads(("This configuration as JSON", "/config"), ("As set commands", "/config?format=set")),
            call("Replace it, as one commit", "PUT", "/config", {"schema_version": 1}),
            call("Replace it in a change set instead", "PUT", "/config?change=ID", {"schema_version": 1}),
        ),
    }
    try:
        chosen = choose(user, word)
        context |= {"chosen": chosen, "excerpt": excerpt(chosen.document, form)}
    except AgentUnavailable as error:
        context["away"] = str(error)
    return show(
        request, "ui/configuration.html", "configuration", {**context, **(extra or {})}, status=status
    )


def _offered() -> list[Any]:
    found = look(lambda: services.history(limit=_OFFERED, offset=0), None).value
    return list(found.items) if found is not None else []


@require_GET
@role_required(Role.VIEWER)
def download(request: HttpRequest) -> HttpResponse:
    """The same, whole, as a file whose name has hostname and revision."""
    chosen, form = (
        choose(user_of(request), request.GET.get("of") or RUNNING),
        form_of(request.GET.get("as", "")),
    )
    response = HttpResponse(whole(chosen.document, form), content_type=form.media_type)
    name = f"{chosen.file_name}.{form.ending}"
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return response


@require_POST
@role_required(Role.ENGINEER)
def upload(request: HttpRequest) -> HttpResponse:
    """Makes a document, from a file or pasted, the candidate, in place of everything in the user's change
    set.
    """
    pasted, sent = request.POST.get("document", ""), request.FILES.get("file")
    change = open_change(request)
    try:
        if sent is not None and pasted.strip():
            raise ValidationFailed([Problem("", "came twice: choose a file or paste it, not both")])
        text: str | bytes = sent.read() if sent is not None else pasted
        document = whole_document.read_text(text, DOCUMENT_VALUES)
        change = whole_document.replace_by(actor_of(request), change, document)
    except ValidationFailed as error:
        extra = {
            "problems": error.problems,
            "pasted": pasted if len(pasted) <= _KEPT_CHARACTERS else "",
            "not_kept": len(pasted) > _KEPT_CHARACTERS or sent is not None,
        }
        return _page(request, extra, status=422)
    if change.is_empty:
        tell(request, "The document is what runs: there is nothing to change.", "info")
        return redirect("ui:configuration")
    tell(request, "The document is in your changes. Look at what it does, then commit.")
    return redirect("ui:changes")


@require_GET
@role_required(Role.VIEWER)
def compared(request: HttpRequest) -> HttpResponse:
    """The changes from ``?from=`` to ``?to=``: revisions, ``running`` or ``candidate``."""
    user = user_of(request)
    change = services.current(user)
    has_changes = change is not None and not change.is_empty
    before = request.GET.get("from", "").strip()
    after = request.GET.get("to", "").strip()
    asked = bool(before or after)
    before, after = before or RUNNING, after or (CANDIDATE if has_changes else RUNNING)
    context: dict[str, Any] = {
        "before": before,
        "after": after,
        "has_changes": has_changes,
        "offered": _offered(),
        "api_calls": reads(("This comparison", f"/compare?from={before}&to={after}")),
    }
    if not (asked or has_changes):
        return show(request, "ui/compare.html", "configuration", context)
    try:
        found = compare(user, before, after)
    except NotFound as error:
        return show(
            request, "ui/compare.html", "configuration", {**context, "failure": str(error)}, status=404
        )
    return show(request, "ui/compare.html", "configuration", {**context, **_difference(request, found)})


def _difference(request: HttpRequest, found: Compared) -> dict[str, Any]:
    objects = group(found.changes, found.before.document, found.after.document)
    return {"found": found, "changed": diff_page(request, "changed", objects)}
