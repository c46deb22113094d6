"""The seed's configuration document, committed once the agent runs."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from typing import Any, Protocol

from appliance.client import AgentClient, CommitAnswer, CommitOptions, ConfigAnswer, StatusAnswer
from appliance.engine import durable
from appliance.errors import AgentUnavailable, MillraceError
from appliance.firstboot.layout import Layout

log = logging.getLogger("appliance.firstboot")

_WAIT_S = 300.0
_POLL_S = 1.0


class Agent(Protocol):
    """The part of AgentClient that is used."""

    def status(self) -> StatusAnswer: ...
    def config(self) -> ConfigAnswer: ...
    def commit(self, document: dict[str, Any], options: CommitOptions) -> CommitAnswer: ...


def _options() -> CommitOptions:
    return CommitOptions(author="first boot", comment="From the hypervisor's seed.")


def merged(
    document: dict[str, Any] | None, running: dict[str, Any], system: dict[str, Any]
) -> dict[str, Any]:
    """The document to commit. Pure.

    The host settings of a given document win, and the seed's fill the gaps. Without a document the seed's
    host settings are put into the running one.
    """
    if document is None:
        return {**running, "system": {**running.get("system", {}), **system}}
    own = document.get("system", {})
    return {**document, "system": {**system, **own}} if isinstance(own, dict) else document


def commit_first_document(
    layout: Layout,
    connect: Callable[[], Agent] | None = None,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> int | None:
    """Commit what waits; returns the revision, or None when nothing waits or it was refused.

    A refused document is reported on the console and tried again at the next boot, unless a user has
    committed since then: their configuration is never overwritten. The seed's host settings are committed
    even so. Raises AgentUnavailable when the agent does not come up.
    """
    try:
        pending = json.loads(layout.first_document.read_bytes())
    except FileNotFoundError:
        return None
    agent: Agent = connect() if connect is not None else AgentClient(layout.run / "agent.sock", timeout_s=300)
    status = _wait(agent, sleep, clock)
    if pending.get("revision") not in (None, status.revision):
        durable.remove(layout.first_document)
        log.info("the seed's document is dropped: revision %d was committed since", status.revision)
        return None
    document, system = pending["document"], pending["system"]
    if document is None and not system:
        durable.remove(layout.first_document)
        return None
    # Noted before the commit: a lost answer does not make the next boot overwrite later commits.
    first = "revision" not in pending
    if first:
        pending["revision"] = status.revision
        durable.write_json(layout.first_document, pending)
    running = agent.config().document
    try:
        answer = agent.commit(merged(document, running, system), _options())
    except AgentUnavailable:
        raise
    except MillraceError as error:
        _report(layout, f"configuration of the seed: {error}")
        if document is not None and system and first:
            agent.commit(merged(None, running, system), _options())
        pending["revision"] = agent.status().revision
        durable.write_json(layout.first_document, pending)
        return None
    durable.remove(layout.first_document)
    log.info("the seed's configuration is revision %s", answer.revision)
    return answer.revision


def _wait(agent: Agent, sleep: Callable[[float], None], clock: Callable[[], float]) -> StatusAnswer:
    deadline = clock() + _WAIT_S
    while True:
        try:
            return agent.status()
        except AgentUnavailable:
            if clock() > deadline:
                raise
            sleep(_POLL_S)


def _report(layout: Layout, problem: str) -> None:
    """Add a problem to this boot's report, where the console finds it."""
    log.error("%s", problem)
    try:
        report = json.loads(layout.report.read_bytes())
    except (OSError, ValueError):
        report = {}
    report.setdefault("problems", []).append(problem)
    durable.write_json(layout.report, report)
