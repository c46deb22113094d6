"""The user's change set: view it, check it, commit it, confirm it, discard it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from appliance.errors import (
    AgentUnavailable,
    CommitCancelled,
    CommitFailed,
    Conflict,
    MillraceError,
    NotFound,
    Problem,
    StorageFull,
    ValidationFailed,
)
from appliance.state.watch import WatchReport
from webui import router_state
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.changes import conflicts, services
from webui.changes.rolled_back import marked, told_by
from webui.errors import MergeConflicts
from webui.ui import commits, watches
from webui.ui.api_call import call, reads
from webui.ui.candidate import Candidate
from webui.ui.diff_page import diff_page
from webui.ui.diff_text import group, text_lines
from webui.ui.objects import object_of
from webui.ui.one_line import one_line
from webui.ui.page import candidate_of, look, look_at_candidate, show, tell
from webui.ui.pager import pager
from webui.ui.plan_page import frr_page, steps_page
from webui.ui.pointers import MISSING, get
from webui.ui.problem_words import at_the_change, said
from webui.ui.signed_in import user_of
from webui.ui.views.commits import say, waiting_for
from webui.ui.whole_number import whole

CONFIRM_CHOICES = (
    ("", "only if it touches your connection"),
    (0, "without a timer"),
    (60, "within 1 minute"),
    (120, "within 2 minutes"),
    (300, "within 5 minutes"),
    (600, "within 10 minutes"),
)
_ASK_NO_MORE = 286
"""htmx takes this answer, and does not poll again."""
_OTHERS = (
    "Nothing was committed: your changes are no longer those that this page showed. They were changed since, "
    "perhaps in another tab. They are shown below as they are now, with what they do."
)
_RECENT = 8
_LISTED = 50
"""Problems and conflicts on one page."""


@require_GET
@role_required(Role.VIEWER)
def changes(request: HttpRequest) -> HttpResponse:
    """The change set as a diff, a plan and its impact, with the form to commit it."""
    return _page(request)


def _page(request: HttpRequest, extra: dict[str, Any] | None = None, status: int = 200) -> HttpResponse:
    here = reverse("ui:changes")
    change = services.current(user_of(request))
    preview, away = None, ""
    if change is not None and not change.is_empty:
        try:
            preview = services.preview(change, actor_of(request).router_address)
        except AgentUnavailable as error:
            away = str(error)
    known = router_state.status() or {}
    found = look(lambda: services.history(limit=_RECENT, offset=0), None).value
    recent = found.items if found is not None else []
    context: dict[str, Any] = {
        "change": change if change is not None and not change.is_empty else None,
        "preview": preview,
        "away": away,
        "pending": known.get("pending_confirm"),
        "running_revision": known.get("revision"),
        "confirm_choices": CONFIRM_CHOICES,
        "watch": watches.current(),
        "commits": commits.under_way(),
        "waits_for": commits.asked(request) or (change.commit_request if change is not None else ""),
        **watches.choice(request),
        "history": marked(recent),
        "unconfirmed": told_by(recent[0]) if recent else None,
        "api_calls": (
            *reads(("My change sets", "/changes")),
            call(
                "Commit one, confirmed within two minutes",
                "POST",
                "/changes/ID/commit",
                {"comment": "", "confirm_s": 120},
            ),
            call("Confirm", "POST", "/changes/ID/confirm", {}),
        ),
    }
    if preview is not None:
        candidate = candidate_of(request)
        context |= {
            "changed": diff_page(
                request, "changed", group(preview.diff, candidate.running, candidate.document), here
            ),
            "frr": frr_page(request, text_lines(preview.frr_diff), here),
            "steps": steps_page(request, preview.steps, here),
            "own_path": preview.own_path,
            "confirm_default_s": preview.confirm_default_s,
            "impacts": [impact for impact in dict.fromkeys(preview.impacts) if impact != "none"],
            "problems": _problems(preview.problems, _changed(candidate)),
            "conflicts": preview.conflicts,
        }
    elif change is not None and not change.is_empty:
        context["changed"] = diff_page(request, "changed", group(services.diff(change)), here)
    context["queue_position"] = len([one for one in context["commits"] if one.position]) + 1
    context |= extra or {}
    for name in ("problems", "conflicts"):
        # An uploaded document may have thousands of problems.
        context[name] = pager(request, name, context[name], _LISTED, here) if context.get(name) else None
    return show(request, "ui/changes.html", "changes", context, status=status)


def _changed(candidate: Candidate) -> frozenset[str]:
    """The objects that the change set changes."""
    return frozenset(object_of(one.path) for one in candidate.changes if one.path)


def _problems(found: Iterable[Problem], changed: Collection[str]) -> list[tuple[str, str, str]]:
    """Place, message, and the object in which to correct it."""
    placed = (at_the_change(one, changed) for one in found)
    return [(one.pointer, said(one), _editable(one.pointer)) for one in placed]


def _editable(pointer: str) -> str:
    """The object in which a problem is best corrected."""
    return object_of(pointer) if pointer else ""


@require_GET
@role_required(Role.VIEWER)
def pending(request: HttpRequest) -> HttpResponse:
    """The commits that wait for a confirmation or are watched, as a fragment.

    ``of`` names the revisions that did so when the page was made. Once that is over the page is reloaded.
    With ``held`` it only says so, because below it is a form whose buttons must not move.
    """
    watch = watches.current()
    waits, _, watched = request.GET.get("of", "").partition("-")
    held = "held" in request.GET
    context = {
        "pending": router_state.pending_confirm(),
        "watch": watch,
        "held": held,
        "may_operate": user_of(request).has_role(Role.OPERATOR),
        "may_edit": user_of(request).has_role(Role.ENGINEER),
    }
    waits_no_more = bool(waits) and context["pending"] is None
    watched_no_more = bool(watched) and watched != _watched_revision(watch)
    if held and (waits_no_more or watched_no_more):
        over = {
            "waited": waits if waits_no_more else "",
            "watched": watched if watched_no_more and watched.isdecimal() else "",
            "runs": (router_state.status() or {}).get("revision"),
        }
        return render(request, "ui/waiting_over.html", over, status=_ASK_NO_MORE)
    response = render(request, "ui/waiting.html", context)
    if waits_no_more or watched_no_more:
        # It was confirmed or rolled back, or its time is over: the full page shows which.
        response["HX-Refresh"] = "true"
    return response


def _watched_revision(watch: WatchReport | None) -> str:
    return "" if watch is None else str(watch.revision)


@require_POST
@role_required(Role.ENGINEER)
def commit(request: HttpRequest) -> HttpResponse:
    """Commits the change set. A failure leaves it unchanged, and the page shows the failed step."""
    actor = actor_of(request)
    change = services.current(user_of(request))
    if change is None:
        tell(request, "There is nothing to commit.", "warning")
        return redirect("ui:changes")
    comment = one_line(request.POST.get("comment", ""))
    confirm_s = whole(request.POST.get("confirm_s", ""))
    kept = {"comment": comment, "chosen_confirm": "" if confirm_s is None else confirm_s}
    if whole(request.POST.get("version", "")) not in (None, change.version):
        return _page(request, {**kept, "failure": _OTHERS}, status=409)
    try:
        outcome = services.commit(actor, change, watches.options_of(request))
    except MergeConflicts as error:
        return _page(request, {**kept, "conflicts": error.conflicts}, status=409)
    except ValidationFailed as error:
        failure = "It is not valid, so nothing was done."
        return _page(
            request,
            {
                **kept,
                "problems": _problems(error.problems, _changed(look_at_candidate(request)[0])),
                "failure": failure,
            },
            status=422,
        )
    except Conflict as error:
        return _page(request, {**kept, "failure": str(error)}, status=409)
    except StorageFull as error:
        return _page(request, {**kept, "failure": str(error)}, status=507)
    except CommitCancelled as error:
        return _page(request, {**kept, "failure": f"{str(error)[:1].upper()}{str(error)[1:]}."}, status=409)
    except CommitFailed as error:
        failure = f"{error.step}: {error.cause}"
        return _page(request, {**kept, "failure": failure, "undone": error.undone}, status=422)
    finally:
        router_state.forget()
    if outcome.state == "running":
        return waiting_for(outcome.request_id)
    say(request, outcome)
    return redirect("ui:changes")


@require_POST
@role_required(Role.OPERATOR)
def confirm(request: HttpRequest) -> HttpResponse:
    """Confirms the revision that waits for it."""
    try:
        services.confirm(actor_of(request))
    except MillraceError as error:
        tell(request, str(error), "error")
    else:
        tell(request, "Confirmed: this revision stays.")
    router_state.forget()
    return redirect("ui:changes")


@require_POST
@role_required(Role.OPERATOR)
def keep(request: HttpRequest) -> HttpResponse:
    """Calls off the watch's rollback."""
    try:
        kept = services.keep(actor_of(request))
    except MillraceError as error:
        tell(request, str(error), "error")
    else:
        tell(request, f"Revision {kept['revision']} stays, whatever its watch sees.")
    router_state.forget()
    return redirect("ui:changes")


@require_POST
@role_required(Role.ENGINEER)
def discard(request: HttpRequest) -> HttpResponse:
    """Discards the change set."""
    change = services.current(user_of(request))
    if change is not None:
        services.discard(actor_of(request), change)
        tell(request, "Your changes are discarded.", "info")
    return redirect("ui:changes")


@require_POST
@role_required(Role.ENGINEER)
def rebase(request: HttpRequest) -> HttpResponse:
    """Moves the change set onto the running revision."""
    change = services.current(user_of(request))
    if change is None:
        return redirect("ui:changes")
    left = services.rebase(actor_of(request), change)
    if left:
        return _page(request, {"conflicts": left}, status=409)
    tell(request, "Your changes are now based on the running revision.")
    return redirect("ui:changes")


@require_POST
@role_required(Role.ENGINEER)
def resolve(request: HttpRequest) -> HttpResponse:
    """Decides one conflict for ``mine`` or ``theirs``; after the last the change set can be committed."""
    change = services.current(user_of(request))
    side = request.POST.get("side", "")
    if change is None or side not in ("mine", "theirs"):
        return redirect("ui:changes")
    try:
        left = conflicts.resolve(
            actor_of(request), change, request.POST.get("path", ""), "mine" if side == "mine" else "theirs"
        )
    except (Conflict, NotFound, ValidationFailed) as error:
        tell(request, str(error), "error")
        return redirect("ui:changes")
    tell(request, f"{len(left)} to decide." if left else "Decided: your changes are based on what runs.")
    return redirect("ui:changes")


@require_POST
@role_required(Role.ENGINEER)
def revert(request: HttpRequest) -> HttpResponse:
    """Resets one object to its running state, and keeps the rest of the change set."""
    pointer = request.POST.get("pointer", "")
    change = services.current(user_of(request))
    if change is None or not pointer:
        return redirect("ui:changes")
    before = get(services.base_document(change), pointer)
    actor = actor_of(request)
    try:
        if before is MISSING:
            services.delete(actor, change, pointer)
        else:
            services.edit(actor, change, pointer, before)
    except ValidationFailed as error:
        tell(request, f"That cannot be taken back alone: {error}", "error")
    else:
        tell(request, "Taken back.", "info")
    return redirect("ui:changes")
