"""What can be wrong with a command."""

from __future__ import annotations

from appliance.errors import MillraceError


class CommandError(MillraceError):
    """The command cannot be understood or done; the message says why, to the person who typed it."""
