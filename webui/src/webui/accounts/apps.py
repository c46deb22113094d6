"""The app."""

from django.apps import AppConfig
from django.conf import settings


class AccountsConfig(AppConfig):
    """Users, roles, API tokens and the audit log."""

    name = "webui.accounts"
    verbose_name = "Accounts"

    def ready(self) -> None:
        """Start recording logins; a command without logins does not load the code for it."""
        if settings.COLLECTING:
            return
        from webui.accounts import sign_ins

        sign_ins.connect()
