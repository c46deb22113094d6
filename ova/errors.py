"""What can be wrong while an artefact is made or read."""

from __future__ import annotations


class OvaError(Exception):
    """The artefact cannot be made or read; the message says which file and why."""
