"""Editing any object of the document: one page for all, made from the object's schema."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST

from appliance.config.load import parse_document
from appliance.config.pointer import delete as document_without
from appliance.config.pointer import put, split
from appliance.config.schema import entry_of, kinds
from appliance.errors import NotFound, Problem, ValidationFailed
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.changes import services as changes
from webui.ui.api_call import calls_for
from webui.ui.candidate import Candidate
from webui.ui.forms import ObjectForm
from webui.ui.forms.object_form import is_optional
from webui.ui.forms.opened_on import opened_on
from webui.ui.forms.schema import UnknownPath, is_mapping, schema_at
from webui.ui.objects import home_of, inside, place_of
from webui.ui.page import candidate_of, open_change, show, tell
from webui.ui.pointers import MISSING, get, join, parent
from webui.ui.problem_words import at_the_change, said
from webui.ui.tables.batch import refuse_used
from webui.ui.tables.listing import kind_title
from webui.ui.tables.offers import offer
from webui.ui.what_runs import on_what_runs, what_runs


@require_http_methods(["GET", "HEAD", "POST"])
@role_required(Role.ENGINEER)
def edit(request: HttpRequest, path: str) -> HttpResponse:
    """Shows the form of the object at the path, and saves it into the change set."""
    if request.method == "POST":
        return on_what_runs(request, lambda: _edit(request, "/" + path))
    return _edit(request, "/" + path)


def _edit(request: HttpRequest, pointer: str) -> HttpResponse:
    candidate = candidate_of(request)
    base = get(candidate.document, pointer, None)
    opened = opened_on(request.POST)
    # An object removed while the form was open is still known from the form's base.
    known = opened if base is None and isinstance(opened, dict) else base
    try:
        if is_mapping(schema_at(pointer, known)):
            return redirect(place_of(pointer + "/x").list_url)
        if request.method == "POST":
            form = ObjectForm.posted(pointer, request.POST, known)
            form.base = opened
            if _save(request, form, pointer):
                return redirect(_back(request, home_of(pointer)))
            return _page(request, form, candidate, exists=base is not None)
        if base is None and not _may_be_made(pointer):
            raise Http404(f"There is no {inside(pointer)}.")
        return _page(request, ObjectForm.showing(pointer, base), candidate, exists=base is not None)
    except UnknownPath:
        raise Http404(f"There is no {inside(pointer)}.") from None


@require_http_methods(["GET", "HEAD", "POST"])
@role_required(Role.ENGINEER)
def add(request: HttpRequest, path: str) -> HttpResponse:
    """The form of a new object of the mapping at the path; ``?type=`` selects the kind."""
    if request.method == "POST":
        return on_what_runs(request, lambda: _add(request, "/" + path))
    return _add(request, "/" + path)


def _add(request: HttpRequest, mapping: str) -> HttpResponse:
    candidate = candidate_of(request)
    try:
        schema = schema_at(mapping)
        if not is_mapping(schema):
            raise UnknownPath(mapping)
        if (gone := _missing_around(mapping, candidate.document)) and request.method != "POST":
            raise Http404(f"There is no {inside(gone)}.")
        offered = list(kinds(entry_of(schema) or {}))
        kind = request.GET.get("type", offered[0] if offered else None)
        if request.method != "POST":
            form = ObjectForm.empty(mapping, kind=kind)
            _suggest_key(form, get(candidate.document, mapping, {}))
            return _page(request, form, candidate, offered=offered, kind=kind, mapping=mapping)
        form = ObjectForm.posted_new(mapping, request.POST, kind=kind)
    except UnknownPath:
        raise Http404(f"The document has no {mapping}.") from None
    if form.key is not None and get(candidate.document, form.pointer) is not MISSING and form.key.text:
        form.key.errors.append(f"{form.key.text} exists already")
    if gone and form.key is not None:
        form.key.errors.append(f"{place_of(gone).title} was removed in the meantime")
    if form.valid and _save(request, form, form.pointer):
        return redirect(_back(request, home_of(form.pointer)))
    return _page(request, form, candidate, offered=offered, kind=kind, mapping=mapping)


@require_POST
@role_required(Role.ENGINEER)
def delete(request: HttpRequest, path: str) -> HttpResponse:
    """Removes the object from the candidate."""
    pointer = "/" + path
    place = place_of(pointer)
    actor = actor_of(request)
    change = open_change(request)
    try:
        refuse_used(document_without(changes.document(change), pointer), [pointer])
        changes.delete(actor, change, pointer)
    except NotFound:
        tell(request, f"{place.title} is already gone.", "warning")
    except ValidationFailed as error:
        reasons = "; ".join(map(said, error.problems))
        tell(request, f"{place.title} cannot be removed. {reasons}.", "error")
        return redirect(_back(request, place.list_url))
    else:
        tell(request, f"{place.title} will be removed when you commit.")
    return redirect(_back(request, place.list_url))


def _save(request: HttpRequest, form: ObjectForm, pointer: str) -> bool:
    """Put the posted object into the change set; False after placing the problems in the form."""
    if not form.valid:
        return False
    actor, change = actor_of(request), open_change(request)
    running = what_runs(request).document.document
    value = form.onto(get(changes.document(change), pointer, None), get(running, pointer, None))
    if form.error_count:
        return False
    known = what_runs(request)
    try:
        problems, runs = changes.save(actor, change, pointer, value, known.document)
    except ValidationFailed as error:
        form.place(error.problems)
        return False
    except NotFound as error:
        if form.key is None:
            raise
        form.key.errors.append(_why_no_key(form, str(error)))
        return False
    known.told(runs)
    tell(request, f"{place_of(pointer).title} is in your changes.")
    moved = (at_the_change(problem, (pointer,)) for problem in problems)
    for problem in _problems_at(moved, pointer):
        tell(request, f"Before you commit: {said(problem)}", "warning")
    return True


def _why_no_key(form: ObjectForm, otherwise: str) -> str:
    """Why the typed key is invalid, in the words of the model."""
    try:
        parse_document(put({}, form.pointer, form.value))
    except ValidationFailed as error:
        keys = [one.message for one in error.problems if one.pointer in (form.pointer, parent(form.pointer))]
        return keys[0] if keys else otherwise
    return otherwise


def _problems_at(problems: Iterable[Problem], pointer: str) -> list[Problem]:
    return [one for one in problems if one.pointer == pointer or one.pointer.startswith(pointer + "/")]


def _may_be_made(pointer: str) -> bool:
    """Whether editing can create an object that does not exist: a singleton, such as BGP."""
    return not is_mapping(schema_at(pointer.rpartition("/")[0])) and (
        is_optional(pointer) or pointer.count("/") == 1
    )


def _missing_around(mapping: str, document: Any) -> str:
    """The named object that contains the mapping, where the document lacks it: saving would create it."""
    tokens = split(mapping)
    for length in range(1, len(tokens)):
        holder = join(*tokens[: length + 1])
        if is_mapping(schema_at(join(*tokens[:length]))) and get(document, holder) is MISSING:
            return holder
    return ""


def _suggest_key(form: ObjectForm, present: Any) -> None:
    """The next free sequence of a list of rules."""
    if form.key is not None and form.key.field.title == "Sequence" and isinstance(present, dict):
        highest = max((int(key) for key in present if str(key).isdecimal()), default=0)
        form.key.text = str((highest // 10 + 1) * 10)


def _back(request: HttpRequest, otherwise: str) -> str:
    wanted = request.POST.get("next", "")
    return wanted if url_has_allowed_host_and_scheme(wanted, allowed_hosts=None) else otherwise


def _page(
    request: HttpRequest,
    form: ObjectForm,
    candidate: Candidate,
    *,
    exists: bool = False,
    offered: list[str] | None = None,
    kind: str | None = None,
    mapping: str = "",
) -> HttpResponse:
    new, rejected = form.key is not None, request.method == "POST"
    offer(form, candidate.document)
    pointer = mapping + join("NAME") if new and not form.key_text else form.pointer
    place = place_of(pointer)
    heading = f"Add {place.noun}{place.within}" if new else place.title
    removable = exists and (not new) and (bool(place.name) or is_optional(pointer))
    return show(
        request,
        "ui/edit.html",
        place.section,
        {
            "form": form,
            "document": candidate.document,
            "heading": heading,
            "place": place,
            "about": form.root.field.help,
            "next": request.POST.get("next", "") or request.GET.get("next", ""),
            "rejected": rejected,
            "can_delete": removable,
            "kinds": [(one, kind_title(one)) for one in offered or []],
            "chosen_kind": kind,
            "back_url": home_of(pointer) if exists else place.list_url,
            "api_calls": calls_for(pointer, form.value, new=new),
        },
        status=422 if rejected else 200,
    )
