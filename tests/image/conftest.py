"""The built image, machines that boot it, and the wall times that the summary prints."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.image import artefacts, hypervisor, patience
from tests.image.artefacts import Artefacts
from tests.image.boots import Boots
from tests.requirements import require_root_netns

_HERE = Path(__file__).resolve().parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test here may boot a machine or two; every wait inside has a shorter limit of its own."""
    for item in items:
        if item.path.is_relative_to(_HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(patience.limit_s(4 * patience.BOOT_S)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how long what took: the README quotes these."""
    if patience.measured:
        terminalreporter.section("image tests: wall times")
        for what, took_s in patience.measured:
            terminalreporter.write_line(f"{took_s:8.1f} s  {what}")


@pytest.fixture(scope="session")
def built() -> Artefacts:
    """The build under test."""
    hypervisor.require()
    return artefacts.find()


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    """A short-named directory for the disks and sockets of a module's machines.

    What the machines wrote to their serial consoles, and QEMU's own words, are kept in ``.image-tests``.
    """
    made = Path(tempfile.mkdtemp(prefix="mr-im-"))
    yield made
    for name in ("serial.log", "qemu.log"):
        for log in made.glob(f"**/{name}"):
            kept = artefacts.REPOSITORY / ".image-tests" / f"{log.parent.name}.{name}"
            kept.parent.mkdir(exist_ok=True)
            shutil.copyfile(log, kept)
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def boots(built: Artefacts, directory: Path) -> Iterator[Boots]:
    """Boots routers from the image; ends them, and removes their networks, when the module is done."""
    require_root_netns()
    with Boots(built, directory) as made:
        yield made
