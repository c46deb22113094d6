"""An operator's actions on the running router, by a button."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from appliance.actions import ACTIONS
from appliance.config.problem_text import sentence_of, told_by_field
from appliance.errors import MillraceError, ValidationFailed
from webui import router_actions
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.ui.page import tell


@require_POST
@role_required(Role.OPERATOR)
def act(request: HttpRequest, name: str) -> HttpResponse:
    """Does it, and returns to the page of the button."""
    action = next((one for one in ACTIONS if one.name == name), None)
    if action is None:
        raise Http404("There is no such action.")
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        back = reverse("ui:dashboard")
    fields = action.question.model_fields
    given = {field: value for field, value in request.POST.items() if field in fields and value}
    try:
        with told_by_field():
            question = action.asked(given)
        done = router_actions.act(actor_of(request), action, question)
    except ValidationFailed as error:
        tell(request, f"Nothing was done: {sentence_of(error.problems)}.", "error")
    except MillraceError as error:
        tell(request, f"Nothing was done: {error}.", "error")
    else:
        for sentence in done.done:
            tell(request, f"{sentence}.")
    return redirect(back)
