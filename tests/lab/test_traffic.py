"""The measured flow counts exactly: nothing where nothing is lost, and every lost packet.

::

    lf-a 10.99.0.1 --- 10.99.0.2 lf-b
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import namespaces
from lab.command import run
from lab.errors import LabError
from lab.traffic import Flow
from tests.requirements import needs_root_netns

pytestmark = needs_root_netns
_A, _B = "lf-a", "lf-b"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    for name in (_A, _B):
        namespaces.add(name)
    run(["ip", "link", "add", "eth0", "netns", _A, "type", "veth", "peer", "name", "eth0", "netns", _B])
    for name, last in ((_A, 1), (_B, 2)):
        for address in (f"10.99.0.{last}/24", f"2001:db8:99::{last}/64"):
            run(
                [
                    "ip",
                    "-n",
                    name,
                    "address",
                    "add",
                    address,
                    "dev",
                    "eth0",
                    *(["nodad"] if ":" in address else []),
                ]
            )
        run(["ip", "-n", name, "link", "set", "eth0", "up"])
    yield tmp_path_factory.mktemp("traffic")
    for name in (_A, _B):
        namespaces.delete(name)


def _flow(directory: Path, destination: str = "10.99.0.2", pps: float = 10_000, seconds: float = 1) -> Flow:
    return Flow(directory, sender=_A, receiver=_B, destination=destination, pps=pps, seconds=seconds)


@pytest.mark.parametrize("destination", ["10.99.0.2", "2001:db8:99::2"])
def test_nothing_is_lost_on_a_wire(directory: Path, destination: str) -> None:
    with _flow(directory, destination) as flow:
        result = flow.result()
    assert (result.sent, result.received, result.lost) == (10_000, 10_000, 0)
    assert (result.duplicates, result.reordered, result.receiver_drops, result.send_errors) == (0, 0, 0, 0)
    assert result.longest_missing_run == 0


def test_every_lost_packet_is_counted(directory: Path) -> None:
    chain = "type filter hook input priority 0; udp dport 7000 numgen inc mod 100 0 drop;"
    namespaces.run_in(_B, ["nft", f"table ip lossy {{ chain in {{ {chain} }}; }}"])
    try:
        with _flow(directory) as flow:
            result = flow.result()
    finally:
        namespaces.run_in(_B, ["nft", "delete", "table", "ip", "lossy"])
    assert (result.sent, result.lost, result.longest_missing_run) == (10_000, 100, 1)


def test_stopping_early_counts_what_was_sent_until_then(directory: Path) -> None:
    with _flow(directory, seconds=60) as flow:
        assert flow.sending
        result = flow.stop()
    assert result.sent < 100_000
    assert result.lost == 0


def test_a_receiver_that_cannot_bind_is_an_error(directory: Path) -> None:
    with pytest.raises(LabError, match="bind"), _flow(directory, "10.99.0.77"):
        pass
