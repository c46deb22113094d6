"""The only place where the web half gets its client of the router's agent."""

from __future__ import annotations

import threading

from django.conf import settings

from appliance.client import AgentClient

_lock = threading.Lock()
_client: AgentClient | None = None


def agent() -> AgentClient:
    """The process's client; it may be used from any thread."""
    global _client
    with _lock:
        if _client is None:
            _client = AgentClient(settings.AGENT_SOCKET)
        return _client


def replace_agent(client: AgentClient | None) -> None:
    """Use another client from now on (a test's fake); with None, the next call makes a new one."""
    global _client
    with _lock:
        _client = client
