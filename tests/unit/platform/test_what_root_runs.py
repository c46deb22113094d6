"""Programs that units run are files of the read-only slot, which only an upgrade writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.platform.test_system_tree import TREE

_UNITS = sorted(
    path
    for folder in ("usr/lib/systemd/system", "etc/systemd/system")
    for path in (TREE / folder).rglob("*")
    if path.suffix in (".service", ".conf") and path.is_file() and not path.is_symlink()
)
_SLOT = ("/usr/", "/bin/", "/sbin/")
_SEARCHED = re.compile(
    r"^Environment=.*\b(PATH|LD_PRELOAD|LD_LIBRARY_PATH|PYTHONPATH|PYTHONHOME)=", re.MULTILINE
)


def test_there_are_units() -> None:
    assert {"millrace-agent.service", "vpp.service", "frr.service"} <= {path.name for path in _UNITS}


@pytest.mark.parametrize("unit", _UNITS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_unit_runs_programs_of_the_slot(unit: Path) -> None:
    text = unit.read_text()
    for command in re.findall(r"^Exec\w+=(.+)$", text, re.MULTILINE):
        words = [word.lstrip("-+!:@") for word in command.split()]
        assert words[0].startswith(_SLOT), command
        program = (
            words[words.index("/run/netns/dataplane") + 1] if "/run/netns/dataplane" in words else words[0]
        )
        assert program.startswith(_SLOT), command
    assert not _SEARCHED.search(text)
    assert not re.search(
        r"^RootDirectory=|^RootImage=|^ExtensionImages=|^ExtensionDirectories=", text, re.MULTILINE
    )
