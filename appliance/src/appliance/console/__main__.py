"""``python -m appliance.console TTY``: run by systemd on each console; TTY is its name, such as ``ttyS0``."""

from __future__ import annotations

import sys

from appliance.client import AgentClient
from appliance.console.menu import Menu
from appliance.console.status import gather
from appliance.console.terminal import Gone, PlainTerminal
from appliance.firstboot.layout import Layout
from appliance.programs import HostPrograms

_AGENT_TIMEOUT_S = 5.0


def main() -> None:
    """Show the status screen on standard input's terminal until it hangs up."""
    if len(sys.argv) != 2 or not sys.stdin.isatty():
        print("usage: python -m appliance.console TTY, with standard input on that terminal", file=sys.stderr)
        raise SystemExit(1)
    layout, programs, terminal = Layout(), HostPrograms(), PlainTerminal()
    agent = AgentClient(layout.run / "agent.sock", timeout_s=_AGENT_TIMEOUT_S)
    with terminal.raw():
        try:
            Menu(layout, programs, terminal, lambda: gather(layout, programs, agent), sys.argv[1]).run()
        except Gone:
            return


if __name__ == "__main__":
    main()
