"""The error of a command."""

from __future__ import annotations

from appliance.errors import MillraceError


class CommandError(MillraceError):
    """The command is not understood or cannot be carried out; the message tells the user why."""
