"""Parts of addresses: a name may hold anything, as some come from other routers."""

from __future__ import annotations

from django.urls import register_converter


class AnyText:
    """Any text, slashes and line ends included."""

    regex = r"[\s\S]+"

    def to_python(self, value: str) -> str:
        """As it is."""
        return value

    def to_url(self, value: str) -> str:
        """As it is; Django quotes it."""
        return value


register_converter(AnyText, "any")
