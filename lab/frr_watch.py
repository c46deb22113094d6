"""The lab's counterpart of watchfrr: when zebra dies, it restarts the daemons that depend on zebra.

They connect to a new zebra themselves, but do not send their routes again: those would be lost as soon as
zebra clears what its predecessor left in the kernel.
``python -m lab.frr_watch DIRECTORY SOCKET DAEMON ...``
"""

import argparse
import socket
import time
from pathlib import Path

from lab.after import wait_for_socket
from lab.supervision import Supervisor

_AGAIN_S = 0.2
_WAIT_S = 3600.0


def outlive(zserv: Path) -> bool:
    """Hold a connection to zebra until it ends; False if no connection was possible."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(str(zserv))
            while connection.recv(4096):
                pass
        except ConnectionResetError:
            return True
        except OSError:
            return False
    return True


def main() -> None:
    """Watch until ended by a signal."""
    parser = argparse.ArgumentParser(prog="lab.frr_watch")
    parser.add_argument("directory", type=Path, help="of the lab")
    parser.add_argument("socket", type=Path, help="zebra's")
    parser.add_argument("daemon", nargs="+", help="what leans on zebra")
    arguments = parser.parse_args()
    supervisor = Supervisor(arguments.directory)
    while True:
        wait_for_socket(arguments.socket, _WAIT_S)
        if not outlive(arguments.socket):
            time.sleep(_AGAIN_S)
            continue
        print("zebra has ended: restarting what leans on it", flush=True)
        for name in arguments.daemon:
            supervisor.restart(name)


if __name__ == "__main__":
    main()
