"""The built image, machines that boot it, and the wall times that the summary prints.

Booting is what takes the time. A file whose tests leave a router forwarding shares one: it names its `KIND`,
or has tests by `kind`, and takes the machine from `fleet`. A file with machines of its own takes `boots`.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.image import artefacts, hypervisor, patience
from tests.image.artefacts import Artefacts
from tests.image.boots import Boots
from tests.image.fleet import Fleet
from tests.image.kinds import MACHINES
from tests.requirements import require_root_netns

_HERE = Path(__file__).resolve().parent
_LAST = ("test_power_cut", "test_upgrade", "test_nic_order", "test_testpmd")
"""The files that share a machine: they cut its power, change slots, move its NICs, stop its data plane."""


def _place(item: pytest.Item) -> tuple[int, int]:
    """Tests on one machine follow each other; those that need one of their own come after them."""
    assert isinstance(item, pytest.Function)
    chosen = item.callspec.params.get("kind") if hasattr(item, "callspec") else None
    kind = chosen or getattr(item.module, "KIND", None)
    name = item.path.stem
    return (
        MACHINES.index(kind) if kind is not None else len(MACHINES),
        _LAST.index(name) + 1 if name in _LAST else 0,
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test here may boot a machine or two; every wait inside has a shorter limit of its own."""
    for item in items:
        if item.path.is_relative_to(_HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(patience.limit_s(4 * patience.BOOT_S)))
    here = [item for item in items if item.path.is_relative_to(_HERE)]
    elsewhere = [item for item in items if not item.path.is_relative_to(_HERE)]
    items[:] = elsewhere + sorted(here, key=_place)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """What a worker measured goes to the process that prints the summary."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["wall_times"] = patience.measured


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker is done."""
    patience.measured.extend(map(tuple, getattr(node, "workeroutput", {}).get("wall_times", ())))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how long each part took; the README quotes these times."""
    if patience.measured:
        terminalreporter.section("image tests: wall times")
        for what, took_s in patience.measured:
            terminalreporter.write_line(f"{took_s:8.1f} s  {what}")


@pytest.fixture(scope="session")
def built() -> Artefacts:
    """The build under test."""
    hypervisor.require()
    return artefacts.find()


@contextmanager
def _scratch() -> Iterator[Path]:
    """A short-named directory for disks and sockets.

    What the machines wrote to their serial consoles, and QEMU's own words, are kept in ``.image-tests``.
    """
    made = Path(tempfile.mkdtemp(prefix="mr-im-"))
    try:
        yield made
    finally:
        for name in ("serial.log", "qemu.log"):
            for log in made.glob(f"**/{name}"):
                kept = artefacts.REPOSITORY / ".image-tests" / f"{log.parent.name}.{name}"
                kept.parent.mkdir(exist_ok=True)
                shutil.copyfile(log, kept)
        shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    """For the disks and sockets of a module's machines."""
    with _scratch() as made:
        yield made


@pytest.fixture(scope="session")
def fleet(built: Artefacts) -> Iterator[Fleet]:
    """The machines that files share."""
    require_root_netns()
    with _scratch() as made:
        machines = Fleet(built, made)
        try:
            yield machines
        finally:
            machines.close()


@pytest.fixture(scope="module")
def boots(fleet: Fleet, directory: Path) -> Iterator[Boots]:
    """Boots routers from the image; ends them, and removes their networks, when the module is done."""
    fleet.switch_off()
    with Boots(fleet.built, directory) as made:
        yield made
