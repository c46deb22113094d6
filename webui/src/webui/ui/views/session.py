"""Logging in and out."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.views import LoginView, LogoutView


class Login(LoginView):
    """The login page; a failure says no more than that it failed."""

    template_name = "ui/login.html"
    redirect_authenticated_user = True

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
