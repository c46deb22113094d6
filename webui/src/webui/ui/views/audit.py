"""The audit log, for admins."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from webui.accounts.decorators import role_required
from webui.accounts.models import AuditEntry
from webui.accounts.roles import Role
from webui.ui.api_call import reads
from webui.ui.page import show

_PER_PAGE = 100


@require_GET
@role_required(Role.ADMIN)
def audit(request: HttpRequest) -> HttpResponse:
    """Who did what from where, newest first; ``?q=`` searches name, address, action, target and detail."""
    wanted = request.GET.get("q", "").strip()[:100]
    entries = AuditEntry.objects.order_by("-time", "-pk")
    if wanted:
        entries = entries.filter(
            Q(username__icontains=wanted)
            | Q(address__icontains=wanted)
            | Q(action__icontains=wanted)
            | Q(target__icontains=wanted)
            | Q(detail__icontains=wanted)
        )
    page = Paginator(entries, _PER_PAGE).get_page(request.GET.get("page"))
    return show(
        request,
        "ui/audit.html",
        "audit",
        {"page": page, "q": wanted, "api_calls": reads(("Read it", "/audit"))},
    )
