"""Fixtures of the upgrade."""

from pathlib import Path

import pytest

from tests.unit.upgrade.appliance_on_disk import Appliance, appliance_in


@pytest.fixture
def router(tmp_path: Path) -> Appliance:
    """A fresh appliance that runs slot a."""
    return appliance_in(tmp_path)
