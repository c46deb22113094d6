"""The running document, as this process last read it; fetched again only when it has changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from appliance.client import AgentClient
from appliance.config.secrets_in import mask
from appliance.state.configuration import RunningConfig
from webui.agent import agent

MOST_BYTES = 4 << 20
"""Limit of the text of a cached document: parsed, it takes some ten times as much memory."""


@dataclass(frozen=True)
class RunningDocument:
    """The running document. Requests share it: nothing in it may be changed."""

    revision: int
    digest: str
    sealed: dict[str, Any] = field(repr=False)

    @cached_property
    def document(self) -> dict[str, Any]:
        """With its secrets masked."""
        masked: dict[str, Any] = mask(self.sealed)
        return masked


_last: tuple[AgentClient, RunningDocument] | None = None


def now() -> RunningDocument:
    """The running document. The agent is asked, and sends the document only if it is not the last one
    read.
    """
    seen = last_seen()
    return learn(agent().running(None if seen is None else seen.digest), seen)


def last_seen() -> RunningDocument | None:
    """The last document seen running, without asking the agent; None where none is cached."""
    known = _last
    return known[1] if known is not None and known[0] is agent() else None


def learn(told: RunningConfig, known: RunningDocument | None) -> RunningDocument:
    """The running document from an answer to a question that named the digest of `known`."""
    global _last
    if told.document is None:
        if known is None or known.digest != told.digest:
            raise ValueError("the agent left a document out that nobody knows")
        if known.revision == told.revision:
            return known
        found = RunningDocument(told.revision, told.digest, known.sealed)
    else:
        found = RunningDocument(told.revision, told.digest, told.document)
    if told.size_bytes <= MOST_BYTES:
        _last = (agent(), found)
    return found


def forget() -> None:
    """Clear the cache."""
    global _last
    _last = None
