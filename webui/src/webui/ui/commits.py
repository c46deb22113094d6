"""What pages show of the commits under way."""

from __future__ import annotations

from django.http import HttpRequest
from pydantic import ValidationError

from appliance.state.commits import CommitsUnderWay, CommitUnderWay
from webui import router_state

PAGE_WAIT_S = 4.0
"""A page waits so long for a commit; then it shows how far it is."""


def under_way() -> tuple[CommitUnderWay, ...]:
    """The one that runs first, and those that wait; at most a second old. None while the agent is away."""
    try:
        known = CommitsUnderWay.model_validate((router_state.status() or {}).get("commits"))
    except ValidationError:
        # The agent is away, or another version of it.
        return ()
    return tuple(one for one in (known.running, *known.queued) if one is not None)


def asked(request: HttpRequest) -> str:
    """The commit that this page waits for, by the ``commit`` of its address; empty when it waits for none."""
    name = request.GET.get("commit", "")
    return name if 0 < len(name) <= 64 and name.isascii() and name.replace("-", "").isalnum() else ""
