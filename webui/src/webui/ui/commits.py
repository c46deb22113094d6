"""The commits under way, as pages show them."""

from __future__ import annotations

from django.http import HttpRequest
from pydantic import ValidationError

from appliance.state.commits import CommitsUnderWay, CommitUnderWay
from webui import router_state

PAGE_WAIT_S = 4.0
"""A page waits this long for a commit; then it shows the commit's progress."""


def under_way() -> tuple[CommitUnderWay, ...]:
    """The running commit first, then the waiting ones; at most a second old. None while the agent is
    unavailable.
    """
    try:
        known = CommitsUnderWay.model_validate((router_state.status() or {}).get("commits"))
    except ValidationError:
        # The agent is unavailable, or is of another version.
        return ()
    return tuple(one for one in (known.running, *known.queued) if one is not None)


def asked(request: HttpRequest) -> str:
    """The commit that this page waits for, from ``commit`` in its address; empty when it waits for none."""
    name = request.GET.get("commit", "")
    return name if 0 < len(name) <= 64 and name.isascii() and name.replace("-", "").isalnum() else ""
