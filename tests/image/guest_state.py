"""Runs inside the guest: prints as JSON the agent's record, and whether the router matches it."""

from __future__ import annotations

import json

from appliance.client import AgentClient
from tests.image.guest_commits import AGENT_SOCKET


def main() -> None:
    """One line: revision, document, the steps still needed to be what was recorded, drift, health."""
    agent = AgentClient(AGENT_SOCKET, timeout_s=60)
    config = agent.config()
    status = agent.status()
    answer = {
        "revision": config.revision,
        "document": config.document,
        "steps": agent.plan(config.document).steps,
        "drift": status.drift,
        "health": status.health,
        "recorded": [entry["revision"] for entry in agent.revisions(500)],
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
