"""The app."""

from django.apps import AppConfig


class ChangesConfig(AppConfig):
    """Change sets and the mirror of the agent's revisions."""

    name = "webui.changes"
    verbose_name = "Changes"
