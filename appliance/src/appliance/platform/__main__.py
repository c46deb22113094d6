"""``python -m appliance.platform [prepare|firewall|cpus|table]``."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence

from appliance.agent import logfmt
from appliance.errors import MillraceError

log = logging.getLogger("appliance.platform")

# Each imports only what it needs: at boot every tenth of a second counts, and VPP waits for it.


def _prepare() -> None:
    from appliance.platform import boot

    boot.prepare()


def _firewall() -> None:
    from appliance.platform import boot

    boot.open_management()


def _cpus() -> None:
    from appliance.platform import cpu_sets, paths

    cpu_sets.share(paths.STARTUP_FILE)


def _table() -> None:
    from appliance.platform.nic_table import table_markdown

    sys.stdout.write(table_markdown())


COMMANDS: dict[str, Callable[[], None]] = {
    "prepare": _prepare,
    "firewall": _firewall,
    "cpus": _cpus,
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
