"""The page *Control plane*: the router's services as it reports them, and packets by reason."""

from __future__ import annotations

import html
import re

from appliance.state.control_plane import ControlPlaneState, GuardedInterface, RouterService
from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of, get

STATE = ControlPlaneState(
    services=(
        RouterService(
            reason="bgp",
            title="BGP",
            by_source=True,
            by_interface=False,
            sources=("192.0.2.1", "192.0.2.8/30"),
            more_sources=1200,
        ),
        RouterService(reason="vrrp", title="VRRP", by_source=False, by_interface=True),
        RouterService(reason="ike", title="IKE", by_source=True, by_interface=False),
    ),
    interfaces=(
        GuardedInterface(interface="blue", open_services=("vrrp",)),
        GuardedInterface(
            interface="lan0",
            management_services=("https", "ssh"),
            accepted={"bgp": 12, "echo": 3},
            dropped={"vrrp": 7},
        ),
        GuardedInterface(interface="wan0", open_services=("vrrp",), accepted={"vrrp": 2}),
    ),
    policers=(),
)


def _words(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def test_every_service_is_shown_by_its_words(router: RouterInMemory, client_of: MakeClient) -> None:
    router.dataplane.control_plane_state = lambda: STATE  # type: ignore[method-assign]
    page = get(browser_of("viewer", client_of), "/control-plane")
    words = _words(page)
    assert "BGP from 192.0.2.1, 192.0.2.8/30 and 1,200 more IKE from nobody" in words
    assert "Interface VRRP Management From blue open closed" in words
    assert "lan0 closed https, ssh anywhere wan0 open closed" in words
    assert "Dropped packets Interface VRRP blue" in words
    assert "Accepted packets Interface BGP Ping VRRP blue" in words
    assert '"/interfaces/lan0"' in page and "/interfaces/blue" not in page
