"""After a commit: sets up again sessions that FRR keeps closed because of a limit the commit has raised."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from frr_config.protocols.bgp.clearing import clear
from frr_config.protocols.bgp.limits import raised
from frr_config.protocols.bgp.model import Bgp
from frr_config.protocols.bgp.session import sessions

if TYPE_CHECKING:
    from appliance.routing.view import VrfRoutingView

log = logging.getLogger(__name__)


def reopen(routing: VrfRoutingView, before: Bgp | None, after: Bgp | None, vrf: str = "") -> list[str]:
    """Clear each closed session whose limit is higher after than before; returns a sentence for each.

    ``routing`` is that of ``vrf``. FRR is queried only if a limit was raised. A session that is up is left
    alone. Raises BackendUnavailable, Conflict.
    """
    addresses = raised(before, after)
    if not addresses:
        return []
    seen = routing.ask(sessions)
    said = []
    for address in addresses:
        session = seen.get(address)
        if session is not None and session.is_over_limit:
            routing.operate(clear(address, vrf=vrf))
            where = f" in VRF {vrf}" if vrf else ""
            said.append(
                f"the session with {address}{where} was cleared: it was closed for too many prefixes, and "
                "more are allowed now"
            )
            log.info("%s", said[-1])
    return said
