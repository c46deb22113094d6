"""Where the boot leaves things for VPP and the agent."""

from __future__ import annotations

from pathlib import Path

AGENT_FILE = Path("/run/millrace/agent.json")
AGENT_STATE = Path("/var/lib/millrace/agent")
STARTUP_FILE = Path("/var/lib/millrace/vpp/startup.conf")
SOCKET = Path("/run/millrace/agent.sock")
SOCKET_GROUP = "millrace"
