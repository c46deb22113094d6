"""The header's state, refreshed every few seconds."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.ui.shell import shell_of


@require_GET
@role_required(Role.VIEWER)
def status(request: HttpRequest) -> HttpResponse:
    """Host name, data plane, revision, health and pending confirm, as a fragment."""
    return render(request, "ui/shell/status.html", {"shell": shell_of(request, polled=True)})
