"""Logging in and out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webui.accounts.known_devices import remember
from webui.accounts.models import User
from webui.accounts.sign_in_gate import SignInRefused, gate
from webui.http.sign_in_door import MOST_OF_A_NAME


class Login(LoginView):
    """The login page; a failure does not say why it failed."""

    template_name = "ui/login.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Try a password, if that is permitted now."""
        username = request.POST.get("username", "")[:MOST_OF_A_NAME]
        try:
            with gate.attempt(request, username) as attempt:
                response: HttpResponse = super().post(request, *args, **kwargs)
                if isinstance(request.user, User):
                    attempt.take_back()
                    gate.signed_in(request, request.user.username)
                    remember(response, request.user.username, attempt.device)
                return response
        except SignInRefused as refused:
            context = {"cooloff_timedelta": timedelta(seconds=refused.retry_after_s)}
            response = render(request, "ui/lockout.html", context, status=refused.status)
            response.headers["Retry-After"] = str(refused.retry_after_s)
            return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Django's context, with what the template shows."""
        context = super().get_context_data(**kwargs)
        form = context["form"]
        context["failed"] = form.is_bound and not form.is_valid()
        context["username"] = form.data.get("username", "")[:150] if form.is_bound else ""
        return context


class Logout(LogoutView):
    """Ends the session; POST only."""

    next_page = "ui:login"
