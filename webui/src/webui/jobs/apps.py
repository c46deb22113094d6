"""The app."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """Long-running work."""

    name = "webui.jobs"
    verbose_name = "Jobs"
