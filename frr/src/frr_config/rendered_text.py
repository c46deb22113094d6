"""Texts of a document, prepared for a line."""

from __future__ import annotations

from pydantic import SecretStr

from frr_config.errors import RenderError


def one_spaced(text: str) -> str:
    """Free text as FRR keeps it: words with one space between them."""
    return " ".join(text.split())


def revealed(secret: SecretStr) -> str:
    """The clear text of a secret. Raises RenderError for a secret that is still sealed."""
    text = secret.get_secret_value()
    if text.startswith("$sealed$"):
        raise RenderError("a secret is still sealed: unseal the document before rendering it")
    return text
