"""``python -m appliance.platform [prepare|firewall|cpus|table]``."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence

from appliance.agent import logfmt
from appliance.errors import MillraceError
from appliance.platform import boot
from appliance.platform.nic_table import table_markdown

log = logging.getLogger("appliance.platform")


def _table() -> None:
    sys.stdout.write(table_markdown())


COMMANDS: dict[str, Callable[[], None]] = {
    "prepare": boot.prepare,
    "firewall": boot.open_management,
    "cpus": boot.share_cpus,
    "table": _table,
}
"""``prepare`` at boot, before VPP; ``firewall`` when the management NIC changed; ``cpus`` when VPP started;
``table`` prints the NIC table of the docs."""


def main(arguments: Sequence[str]) -> int:
    """Run one command; ``prepare`` when none is named. The exit status."""
    logfmt.configure()
    name = arguments[0] if arguments else "prepare"
    if name not in COMMANDS or len(arguments) > 1:
        sys.stderr.write(f"usage: python -m appliance.platform [{'|'.join(COMMANDS)}]\n")
        return 2
    try:
        COMMANDS[name]()
    except (MillraceError, OSError, ValueError) as error:
        log.error("%s: %s", name, error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
