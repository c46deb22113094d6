"""The end of zebra is noticed at its socket."""

import socket
import threading
from pathlib import Path

from lab.frr_watch import outlive
from tests.live_lab import wait_until


def test_a_connection_is_held_until_zebra_ends(tmp_path: Path) -> None:
    path = tmp_path / "zserv.api"
    ended: list[bool] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as zebra:
        zebra.bind(str(path))
        zebra.listen()
        watch = threading.Thread(target=lambda: ended.append(outlive(path)), daemon=True)
        watch.start()
        connection, _ = zebra.accept()
        connection.sendall(b"what zebra says is nothing to the watch")
        assert ended == []
        connection.close()
    wait_until(lambda: ended == [True], timeout_s=30, what="the end is seen")


def test_no_zebra_is_no_end(tmp_path: Path) -> None:
    assert outlive(tmp_path / "zserv.api") is False
