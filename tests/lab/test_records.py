"""The records that a lab writes before it acts: its own, and that of the machine's settings, shared with
other labs.
"""

from pathlib import Path

import pytest

from lab import state
from lab.errors import LabError
from lab.kernel_settings import Register
from lab.state import LabState


def test_a_record_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    record = LabState("t1", "vpp", namespaces=("a", "b")).owning([tmp_path], shared=[Path("/var/run/frr")])
    state.save(tmp_path / "lab" / "state.json", record)
    assert state.load(tmp_path / "lab" / "state.json") == record
    assert state.load(tmp_path / "nothing.json") is None


def test_owning_a_path_twice_notes_it_once(tmp_path: Path) -> None:
    record = LabState("t1", "linux").owning([tmp_path])
    assert record.owning([tmp_path]) == record


@pytest.fixture
def register(tmp_path: Path) -> Register:
    for name, value in (("vm/nr_hugepages", "3"), ("net/core/rmem_max", "212992")):
        path = tmp_path / "sys" / name
        path.parent.mkdir(parents=True)
        path.write_text(value + "\n")
    return Register(tmp_path / "register", tmp_path / "sys")


def _hugepages(register: Register) -> Path:
    return register.settings / "vm/nr_hugepages"


def _receive_limit(register: Register) -> str:
    return (register.settings / "net/core/rmem_max").read_text().strip()


def test_settings_come_back_when_the_last_lab_goes(register: Register, tmp_path: Path) -> None:
    register.enrol("one", tmp_path / "one", "vpp")
    assert _receive_limit(register) == "134217728"
    _hugepages(register).write_text("22\n")  # as VPP does
    register.enrol("two", tmp_path / "two", "vpp")
    register.leave("one")
    assert (_receive_limit(register), _hugepages(register).read_text().strip()) == ("134217728", "22")
    register.leave("two")
    assert (_receive_limit(register), _hugepages(register).read_text().strip()) == ("212992", "3")
    assert not register.directory.exists()


def test_a_lab_that_changed_nothing_puts_back_what_an_earlier_one_changed(
    register: Register, tmp_path: Path
) -> None:
    register.enrol("kernel", tmp_path / "kernel", "linux")
    register.enrol("vpp", tmp_path / "vpp", "vpp")
    register.leave("vpp")
    register.leave("kernel")
    assert _receive_limit(register) == "212992"


def test_enrolling_again_does_not_take_the_raised_value_for_the_original(
    register: Register, tmp_path: Path
) -> None:
    register.enrol("one", tmp_path, "vpp")
    register.enrol("one", tmp_path, "vpp")
    found = register.find("one")
    assert found is not None
    assert found.originals == {"net/core/rmem_max": "212992", "vm/nr_hugepages": "3"}
    register.leave("one")
    assert _receive_limit(register) == "212992"


def test_two_labs_never_get_the_same_port(register: Register, tmp_path: Path) -> None:
    def is_free(port: int) -> bool:
        return port != 8443

    register.enrol("one", tmp_path / "one", "linux")
    assert register.reserve_port("one", tmp_path / "one", is_free) == 8444
    assert register.reserve_port("two", tmp_path / "two", is_free) == 8445
    register.enrol("one", tmp_path / "one", "linux")
    assert register.reserve_port("three", tmp_path / "three", is_free) == 8446
    register.leave("one")
    assert register.reserve_port("three", tmp_path / "three", is_free) == 8444
    with pytest.raises(LabError, match="free"):
        register.reserve_port("four", tmp_path, lambda port: False)


def test_the_linux_data_plane_changes_nothing(register: Register, tmp_path: Path) -> None:
    register.enrol("one", tmp_path, "linux")
    assert _receive_limit(register) == "212992"
    register.leave("one")
    register.leave("never-there")
