"""Copies actions of the router's command line from its agent into the audit log."""

from __future__ import annotations

import logging
import re
import threading

from appliance.errors import MillraceError
from webui.accounts import audit
from webui.accounts.models import AuditEntry
from webui.agent import agent

VIA = "cli"
_NUMBER = re.compile(r"operation (\d+)$")
_one_at_a_time = threading.Lock()
_log = logging.getLogger(__name__)


def take_over() -> int:
    """Append the new actions; returns how many. A second run appends nothing twice."""
    with _one_at_a_time:
        try:
            found = agent().operations(_last()).operations
        except MillraceError as error:
            _log.info("the command line's operations are not known now: %s", error)
            return 0
        for one in found:
            said = f"{one.detail}; " if one.detail else ""
            audit.record_command_line(
                one.author,
                one.action,
                one.target,
                "failed" if one.result == "failed" else "done",
                f"{said}at {one.at}, operation {one.number}",
            )
        return len(found)


def _last() -> int:
    """The number of the last action that was copied."""
    entry = AuditEntry.objects.filter(via=VIA).order_by("-pk").first()
    found = _NUMBER.search(entry.detail) if entry is not None else None
    return int(found[1]) if found else 0
