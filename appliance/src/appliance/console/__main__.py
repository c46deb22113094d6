"""``python -m appliance.console``: run by systemd on each console."""

from __future__ import annotations

import sys

from appliance.client import AgentClient
from appliance.console.menu import Menu, own_tty
from appliance.console.status import gather
from appliance.console.terminal import Gone, PlainTerminal
from appliance.firstboot.layout import Layout
from appliance.firstboot.programs import HostPrograms

_AGENT_TIMEOUT_S = 5.0


def main() -> None:
    """Show the status screen on standard input's terminal until it hangs up."""
    if not sys.stdin.isatty():
        print("millrace: the console needs a terminal", file=sys.stderr)
        raise SystemExit(1)
    layout, programs, terminal = Layout(), HostPrograms(), PlainTerminal()
    agent = AgentClient(layout.run / "agent.sock", timeout_s=_AGENT_TIMEOUT_S)
    with terminal.raw():
        try:
            Menu(layout, programs, terminal, lambda: gather(layout, programs, agent), own_tty()).run()
        except Gone:
            return


if __name__ == "__main__":
    main()
