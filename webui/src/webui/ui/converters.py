"""Path converters: a name may hold any text, because other routers choose some of them."""

from __future__ import annotations

from django.urls import register_converter


class AnyText:
    """Any text, slashes and line ends included."""

    regex = r"[\s\S]+"

    def to_python(self, value: str) -> str:
        """Unchanged."""
        return value

    def to_url(self, value: str) -> str:
        """Unchanged; Django quotes it."""
        return value


register_converter(AnyText, "any")
