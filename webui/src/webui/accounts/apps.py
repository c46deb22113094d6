"""The app."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Users, roles, API tokens and the audit log."""

    name = "webui.accounts"
    verbose_name = "Accounts"

    def ready(self) -> None:
        """Begin to note logins."""
        from webui.accounts import sign_ins

        sign_ins.connect()
