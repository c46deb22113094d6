"""A parent with parts that do as a test says: ``python -m tests.integration.web.forked_parts NAME=WHAT...``.

WHAT is ``sleeps``, ``fails`` (ends at once with 3), ``stubborn`` (ignores SIGTERM) or ``raises``; a capital
first letter makes the part vital. Each part says on standard output that it started, with its process id.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable

from webui.processes import parent
from webui.processes.part import Part


def _run(name: str, what: str) -> Callable[[], None]:
    def run() -> None:
        # In one write: what two parts print at once must not mingle, whatever Python buffers.
        os.write(1, f"{name} {os.getpid()}\n".encode())
        if what == "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        elif what == "fails":
            sys.exit(3)
        elif what == "raises":
            raise ValueError("no such thing")
        while True:
            signal.pause()

    return run


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parent.STOP_S = 0.5
    parts = []
    for word in sys.argv[1:]:
        name, _, what = word.partition("=")
        parts.append(Part(name, _run(name, what.lower()), vital=what[0].isupper()))
    sys.exit(parent.Parent(parts).run())


if __name__ == "__main__":
    main()
