"""The app."""

from django.apps import AppConfig


class MetricsConfig(AppConfig):
    """Counters over time."""

    name = "webui.metrics"
    verbose_name = "Metrics"
