"""Commits under way: the running and the waiting ones, their progress, the end of one's own, and
cancelling.
"""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from appliance.errors import MillraceError, NotFound
from appliance.state.commits import CommitOutcome
from webui import router_state
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.changes import services
from webui.ui import commits
from webui.ui.page import tell
from webui.ui.signed_in import user_of


def waiting_for(request_id: str) -> HttpResponse:
    """Redirects to the page that shows this commit's progress."""
    return redirect(f"{reverse('ui:changes')}?{urlencode({'commit': request_id})}")


@require_GET
@role_required(Role.VIEWER)
def under_way(request: HttpRequest) -> HttpResponse:
    """The running and the waiting commits, as a fragment that refreshes itself."""
    context = {
        "commits": commits.under_way(),
        "waits_for": commits.asked(request),
        "may_edit": user_of(request).has_role(Role.ENGINEER),
    }
    return render(request, "ui/commits.html", context)


@require_GET
@role_required(Role.VIEWER)
def outcome(request: HttpRequest, request_id: str) -> HttpResponse:
    """Whether a commit is over, as a fragment that polls until it is."""
    found = _found(request_id)
    is_over = found is None or found.state != "running"
    if is_over:
        router_state.forget()
    return render(request, "ui/commit_progress.html", {"is_over": is_over, "request_id": request_id})


@require_POST
@role_required(Role.VIEWER)
def finished(request: HttpRequest, request_id: str) -> HttpResponse:
    """The commit that a page waited for is over: closes its change set, and shows how it ended."""
    found = _found(request_id)
    services.note_end(user_of(request), request_id)
    router_state.forget()
    if found is None:
        text = "The result of that commit is no longer kept. History lists what was committed."
        tell(request, text, "warning")
    elif found.state == "running":
        return waiting_for(request_id)
    else:
        say(request, found)
    response = HttpResponse(status=204)
    response["HX-Redirect"] = reverse("ui:changes")
    return response


def _found(request_id: str) -> CommitOutcome | None:
    """The outcome of a commit; None where the commit is over and its result is no longer kept."""
    try:
        return services.outcome(request_id)
    except NotFound:
        return None


def say(request: HttpRequest, found: CommitOutcome) -> None:
    """How a commit ended."""
    if found.state == "failed":
        error = found.error or {}
        what = "" if error.get("kind") == "cancelled" else f"{error.get('step', '')}: "
        undone = error.get("undone", True)
        as_before = "" if undone else " The router is not as before yet: see the drift."
        tell(request, f"Not committed. {what}{error.get('message', '')}.{as_before}", "error")
        return
    for sentence in found.reopened:
        tell(request, f"{sentence[:1].upper()}{sentence[1:]}.", "info")
    if found.confirm_expires_at:
        because = f", because {found.confirm_reason}" if found.confirm_reason else ""
        tell(request, f"Revision {found.revision} runs. Confirm it, or it rolls back{because}.", "warning")
    else:
        tell(request, f"Revision {found.revision} runs.")


@require_POST
@role_required(Role.ENGINEER)
def cancel(request: HttpRequest, request_id: str) -> HttpResponse:
    """Has a commit stopped and undone."""
    try:
        stopping = services.cancel(actor_of(request), request_id)
    except MillraceError as error:
        tell(request, str(error)[:1].upper() + str(error)[1:], "error")
    else:
        whose = f"The {stopping.kind} of {stopping.author}"
        if stopping.state == "queued":
            tell(request, f"{whose} was cancelled before it changed anything.")
        else:
            tell(request, f"{whose} stops before its next step and is undone.")
    waited_for = commits.asked(request)
    return waiting_for(waited_for) if waited_for else redirect("ui:changes")
