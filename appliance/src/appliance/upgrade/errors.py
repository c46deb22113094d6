"""What can stop an upgrade."""

from __future__ import annotations

from appliance.errors import MillraceError


class UpgradeRefused(MillraceError):
    """The upgrade file or the router does not allow it. Nothing in use was changed."""
