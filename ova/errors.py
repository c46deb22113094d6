"""Errors of making or reading an artefact."""

from __future__ import annotations


class OvaError(Exception):
    """The artefact cannot be made or read; the message says which file and why."""
