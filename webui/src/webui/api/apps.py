"""The app."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The REST API."""

    name = "webui.api"
    verbose_name = "API"
