"""The agent's client for an event loop: what is streamed to browsers. AgentClient has all the other calls."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx

from appliance.client import calls
from appliance.client.answers import Answer
from appliance.client.failures import error_of
from appliance.errors import AgentUnavailable


class AsyncAgentClient:
    """Raises AgentUnavailable and what the agent answers with, as AgentClient."""

    def __init__(self, socket_path: str | Path, timeout_s: float = 60.0) -> None:
        self._socket_path = str(socket_path)
        self._http = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(uds=self._socket_path, retries=1),
            base_url="http://agent",
            timeout=timeout_s,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def capture_part(self, capture: str, offset: int) -> bytes:
        """A part of a capture's file, a MiB at most; empty behind its end."""
        call = calls.capture_part(capture, offset)
        try:
            response = await self._http.request(call.method, call.path, params=call.query)
        except httpx.HTTPError as error:
            raise AgentUnavailable(
                f"the agent does not answer on {self._socket_path}: {str(error) or type(error).__name__}"
            ) from error
        if response.is_error:
            raise error_of(response.status_code, response.content)
        return response.content

    async def counters_stream(self) -> AsyncGenerator[Answer, None]:
        """Each new sample, until the agent goes away (AgentUnavailable) or the caller stops."""
        try:
            async with self._http.stream("GET", "/v1/counters/stream") as response:
                if response.is_error:
                    raise error_of(response.status_code, await response.aread())
                async for line in response.aiter_lines():
                    if line:
                        yield Answer(json.loads(line))
        except httpx.HTTPError as error:
            raise AgentUnavailable(f"the agent's counters ended: {error}") from error
        raise AgentUnavailable("the agent's counters ended")
