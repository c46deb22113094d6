"""Revisions: the list, one revision, a comparison of two, and rollback."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from appliance.config.merge import Side
from appliance.errors import CommitCancelled, CommitFailed, Conflict, ValidationFailed
from webui import router_state
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.agent import agent
from webui.changes import rolled_back, services
from webui.changes.rollbacks import preview_rollback
from webui.changes.taking_up import take_up_revision
from webui.ui import watches
from webui.ui.api_call import call, reads
from webui.ui.diff_page import diff_page
from webui.ui.diff_text import group, text_lines
from webui.ui.page import show, tell
from webui.ui.pager import last_offset, pager
from webui.ui.plan_page import frr_page, steps_page
from webui.ui.signed_in import user_of
from webui.ui.views.changes import CONFIRM_CHOICES
from webui.ui.views.commits import waiting_for
from webui.ui.whole_number import whole

_PER_PAGE = 50


def _whole(text: str | None, otherwise: int = 0) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 10 else otherwise


@require_GET
@role_required(Role.VIEWER)
def history(request: HttpRequest) -> HttpResponse:
    """Revisions, newest first; ``?q=`` searches author and comment."""
    offset = _whole(request.GET.get("offset"))
    wanted = request.GET.get("q", "").strip()
    page = services.history(limit=_PER_PAGE, offset=offset, search=wanted)
    if not page.items and page.total:
        offset = last_offset(page.total, _PER_PAGE)
        page = services.history(limit=_PER_PAGE, offset=offset, search=wanted)
    last = offset + len(page.items)
    context = {
        "revisions": rolled_back.marked(page.items),
        "total": page.total,
        "first": offset + 1 if page.items else 0,
        "last": last,
        "previous": max(0, offset - _PER_PAGE) if offset else None,
        "following": last if last < page.total else None,
        "q": wanted,
        "running_revision": (router_state.status() or {}).get("revision"),
        "api_calls": reads(("Revisions", "/revisions"), ("One of them", "/revisions/1")),
    }
    return show(request, "ui/history.html", "changes", context)


@require_GET
@role_required(Role.VIEWER)
def revision(request: HttpRequest, number: int) -> HttpResponse:
    """One revision: its changes, its steps, and the way back to it."""
    found = services.revision(number)
    plan = found.get("plan") or []
    running = (router_state.status() or {}).get("revision")
    against = _whole(request.GET.get("against"), number - 1 if number == running else running or 0)
    compared = None
    if request.GET.get("against"):
        compared = diff_page(request, "compared", group(services.compare(number, against)))
    context: dict[str, Any] = {
        "number": number,
        "revision": found,
        "changed": diff_page(request, "changed", group(found.get("diff") or [])),
        "steps": steps_page(request, plan.get("steps", []) if isinstance(plan, dict) else plan),
        "running_revision": running,
        "against": against,
        "compared": compared,
        "resets": found.get("impact", "none") not in ("", "none"),
        "unconfirmed": rolled_back.of(number),
        "no_steps": rolled_back.no_steps(found.get("author", ""), found.get("comment") or ""),
        **watches.report_of(found),
        "api_calls": (
            *reads(("This revision", f"/revisions/{number}")),
            call("Go back to it", "POST", "/rollback", {"revision": number, "comment": ""}),
            call("Put its changes into a change set", "POST", f"/revisions/{number}/take-up", {}),
        ),
    }
    return show(request, "ui/revision.html", "changes", context)


def _side(keep: str | None) -> Side | None:
    return "ours" if keep == "ours" else "theirs" if keep == "theirs" else None


@require_POST
@role_required(Role.ENGINEER)
def take_up(request: HttpRequest, number: int) -> HttpResponse:
    """Puts the changes of a revision into the user's change set. Conflicts are shown, and nothing is done."""
    keep = request.POST.get("keep")
    try:
        taken = take_up_revision(
            actor_of(request),
            number,
            services.current(user_of(request)),
            _side(keep),
        )
    except (Conflict, ValidationFailed) as error:
        tell(request, f"Nothing was put into your changes: {str(error).rstrip('.')}.", "error")
        return redirect("ui:revision", number=number)
    if taken.conflicts:
        context = {
            "number": number,
            "conflicts": pager(request, "conflicts", taken.conflicts, _PER_PAGE),
            "revision": services.revision(number),
        }
        return show(request, "ui/take_up.html", "changes", context, status=409)
    if taken.added:
        tell(request, f"The changes of revision {number} are among yours. They are not committed yet.")
    else:
        tell(request, f"Your changes, on what runs, hold those of revision {number} already.", "info")
    return redirect("ui:changes")


@require_GET
@role_required(Role.ENGINEER)
def rollback_preview(request: HttpRequest, number: int) -> HttpResponse:
    """The effect of a rollback to a revision: the difference from the running document, the steps and
    their impact.
    """
    try:
        preview = preview_rollback(actor_of(request), number)
    except Conflict as error:
        tell(request, str(error), "info")
        return redirect("ui:revision", number=number)
    context: dict[str, Any] = {
        "number": number,
        "revision": services.revision(number),
        "preview": preview,
        "problems": pager(request, "problems", preview.problems, _PER_PAGE),
        "changed": diff_page(request, "changed", group(preview.diff)),
        "frr": frr_page(request, text_lines(preview.frr_diff)),
        "steps": steps_page(request, preview.steps),
        "impacts": [impact for impact in dict.fromkeys(preview.impacts) if impact != "none"],
        "running_revision": preview.base_revision,
        "confirm_choices": CONFIRM_CHOICES,
        **watches.choice(request),
        "pending": router_state.pending_confirm(),
        "api_calls": (call("Go back to it", "POST", "/rollback", {"revision": number, "comment": ""}),),
    }
    return show(request, "ui/rollback.html", "changes", context)


@require_POST
@role_required(Role.ENGINEER)
def rollback(request: HttpRequest) -> HttpResponse:
    """Makes an earlier revision's document the running one, as a new revision.

    If the preview was made for another running revision than the present one, the user sees a new preview
    first.
    """
    number = whole(request.POST.get("revision", ""))
    if number is None:
        # Revision 0, the router without a configuration, is also a valid target.
        raise Http404("There is no such revision.")
    previewed = _whole(request.POST.get("previewed_revision"), -1)
    if previewed != -1 and (running := agent().status().revision) != previewed:
        text = f"Revision {running} was committed since you looked. This is what the rollback would do now."
        tell(request, text, "warning")
        return redirect("ui:rollback_preview", number=number)
    try:
        outcome = services.rollback(actor_of(request), number, watches.options_of(request))
    except CommitCancelled as error:
        tell(request, f"The rollback was {error}.", "error")
        return redirect("ui:revision", number=number)
    except CommitFailed as error:
        tell(request, f"The rollback failed and was undone: {error}", "error")
        return redirect("ui:revision", number=number)
    except (Conflict, ValidationFailed) as error:
        tell(request, f"Nothing was rolled back: {str(error).rstrip('.')}.", "error")
        return redirect("ui:revision", number=number)
    finally:
        router_state.forget()
    if outcome.state == "running":
        return waiting_for(outcome.request_id)
    for sentence in outcome.reopened:
        tell(request, f"{sentence[:1].upper()}{sentence[1:]}.", "info")
    if outcome.confirm_expires_at:
        because = f", because {outcome.confirm_reason}" if outcome.confirm_reason else ""
        tell(
            request,
            f"Rolled back to revision {number}. Confirm revision {outcome.revision}, or it rolls back"
            f"{because}.",
            "warning",
        )
    else:
        tell(request, f"Rolled back to revision {number}: revision {outcome.revision} runs.")
    return redirect("ui:changes")
