"""Runs inside the guest: commits one document after the other, and reports each on the second serial port.

``begin N`` is written before commit N is requested, ``done N REVISION`` once the agent reported it done.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from pathlib import Path
from typing import Any

from appliance.client import AgentClient
from appliance.state.commit_options import CommitOptions

AGENT_SOCKET = "/run/millrace/agent.sock"
MARKS = "/dev/ttyS1"
OBJECTS = 12


def variant(base: dict[str, Any], number: int) -> dict[str, Any]:
    """The document of commit `number`: two consecutive ones have only the base in common.

    It states its own number, so that a half-applied one would be noticed.
    """
    side = number % 2
    loopbacks = {
        f"loop{side * OBJECTS + index}": {
            "type": "loopback",
            "description": f"commit {number}",
            "addresses": [f"10.{90 + side}.{index}.1/32"],
        }
        for index in range(OBJECTS)
    }
    routes = {
        f"10.{92 + side}.{index}.0/24": {"next_hops": [{"address": "10.77.2.2"}]} for index in range(OBJECTS)
    }
    return {
        **base,
        "interfaces": {**base["interfaces"], **loopbacks},
        "routing": {**base.get("routing", {}), "static": routes},
    }


def main() -> None:
    """Commit until the power goes. The arguments are the base document's file and the first number."""
    base = json.loads(Path(sys.argv[1]).read_text())
    agent = AgentClient(AGENT_SOCKET, timeout_s=120)
    marks = os.open(MARKS, os.O_WRONLY | os.O_NOCTTY)
    for number in itertools.count(int(sys.argv[2])):
        os.write(marks, f"begin {number}\n".encode())
        answer = agent.commit(
            variant(base, number), CommitOptions(author="power-cut", comment=f"commit {number}")
        )
        os.write(marks, f"done {number} {answer.revision}\n".encode())


if __name__ == "__main__":
    main()
