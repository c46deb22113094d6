"""The Django application of the pages."""

from django.apps import AppConfig


class UiConfig(AppConfig):
    """Views, templates and static files; no models."""

    name = "webui.ui"
    label = "ui"
