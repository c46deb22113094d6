"""The app."""

from django.apps import AppConfig
from django.conf import settings


class AccountsConfig(AppConfig):
    """Users, roles, API tokens and the audit log."""

    name = "webui.accounts"
    verbose_name = "Accounts"

    def ready(self) -> None:
        """Begin to note logins; a command that nobody logs in to is spared what notes them."""
        if settings.COLLECTING:
            return
        from webui.accounts import sign_ins

        sign_ins.connect()
