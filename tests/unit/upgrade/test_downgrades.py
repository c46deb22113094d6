"""An older image comes back only when it is meant: a rebuild, a slot, the way back after an upgrade."""

from __future__ import annotations

import pytest

from appliance.upgrade import slots, trial
from appliance.upgrade.errors import UpgradeRefused
from tests.unit.upgrade.appliance_on_disk import RELEASE, Appliance, file_system
from tests.unit.upgrade.test_whole_upgrade import ILL, SWITCH, Clock
from tests.unit.upgrade.test_whole_upgrade import _good as good
from tests.unit.upgrade.test_whole_upgrade import _install as install
from tests.unit.upgrade.test_whole_upgrade import _installed as installed
from tests.unit.upgrade.test_whole_upgrade import _outcome as outcome


def test_an_older_rebuild_of_the_running_version_has_to_be_meant(router: Appliance) -> None:
    trial.decide(router.machine)
    built_s = RELEASE["built_s"]
    router.upload(file_system(), version="1.0.0", built_s=built_s - 1)
    with pytest.raises(UpgradeRefused, match=r"version 1\.0\.0 is older"):
        install(router)
    router.upload(file_system(), version="1.0.0", built_s=built_s)
    install(router)


ALLOWED = {"allow_downgrade": True}


@pytest.mark.parametrize(
    ("version", "built_s"),
    [("0.9.0", None), ("0.9.0", 1_800_000_000), ("1.0.0", 1_600_000_000), ("1.0.0", None)],
)
def test_a_switch_to_an_older_slot_has_to_be_meant(
    router: Appliance, version: str, built_s: int | None
) -> None:
    """Of the running version and an age that was not recorded nobody knows: it counts as older."""
    trial.decide(router.machine)
    content = slots.Content(version=version, schema_version=1, built_s=built_s)
    slots.write_contents(router.paths.contents, {**slots.read(router.paths).contents, "b": content})
    with pytest.raises(UpgradeRefused, match="is older than 1"):
        install(router, SWITCH)
    assert good(router)["try"] == "" and router.reboots == 0
    install(router, SWITCH.model_copy(update=ALLOWED))
    assert good(router)["try"] == "b" and router.reboots == 1


def test_the_way_back_after_an_upgrade_is_a_downgrade_but_the_automatic_one_needs_no_word(
    router: Appliance,
) -> None:
    installed(router)
    router.boot()
    router.runs(version="2.0.0", built_s=RELEASE["built_s"] + 9)
    assert trial.decide(router.machine, Clock().patience())
    with pytest.raises(UpgradeRefused, match="is older than 2"):
        install(router, SWITCH)
    install(router, SWITCH.model_copy(update=ALLOWED))
    assert router.boot() == "a"
    router.runs()
    router.seen = [ILL]
    assert not trial.decide(router.machine, Clock().patience())
    assert router.boot() == "b" and outcome(router)[0] == "returned"
