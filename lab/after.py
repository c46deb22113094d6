"""Start a program once a Unix socket answers: ``python -m lab.after SOCKET -- PROGRAM ARG ...``.

FRR's daemons retry zebra only every ten seconds; waiting for its socket makes the lab ready sooner. After the
time limit the program is started anyway, since it can wait in its own way.
"""

import argparse
import os
import socket
import time
from pathlib import Path


def wait_for_socket(path: Path, limit_s: float) -> bool:
    """Whether something accepted a connection on `path` within `limit_s`."""
    deadline = time.monotonic() + limit_s
    while True:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(str(path))
            except OSError:
                if time.monotonic() > deadline:
                    return False
            else:
                return True
        time.sleep(0.05)


def main() -> None:
    """Wait, then become the program."""
    parser = argparse.ArgumentParser(prog="lab.after")
    parser.add_argument("socket", type=Path)
    parser.add_argument("--limit-s", type=float, default=20.0)
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    wait_for_socket(arguments.socket, arguments.limit_s)
    os.execvp(arguments.program[0], arguments.program)


if __name__ == "__main__":
    main()
