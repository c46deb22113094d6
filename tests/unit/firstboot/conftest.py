"""A host in a folder: its NICs, its shadow file, and programs that answer from a table."""

from __future__ import annotations

import os
import pwd
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from appliance.firstboot import crypt
from appliance.firstboot.boot import Boot, Report
from appliance.firstboot.layout import Layout
from appliance.firstboot.nics import Card
from appliance.firstboot.sources import Found
from appliance.programs import Programs, Ran

SHADOW = "root:*:20000:0:99999:7:::\nadmin:!*:20000:0:99999:7:::\nsshd:!:20000::::::\n"
FIRST = Card("ens3", "52:54:00:00:00:03", "0000:00:03.0")
SECOND = Card("ens4", "52:54:00:00:00:04", "0000:00:04.0")


@dataclass
class TablePrograms:
    """Answers by a program's name or its first two words; discs are folders that `mount` links into place."""

    discs: dict[str, tuple[dict[str, str], Path]] = field(default_factory=dict)
    """Device to its blkid output and its content."""
    answers: dict[str, Ran] = field(default_factory=dict)
    ran: list[list[str]] = field(default_factory=list)

    def run(self, argv: Sequence[str], timeout_s: float = 30.0, text: str | None = None) -> Ran:
        self.ran.append(list(argv))
        match argv[0]:
            case "blkid":
                about, _ = self.discs.get(argv[-1], ({}, Path()))
                return Ran(0 if about else 2, "".join(f"{k}={v}\n" for k, v in about.items()), "")
            case "mount":
                place = Path(argv[-1])
                place.rmdir()
                place.symlink_to(self.discs[argv[-2]][1])
            case "umount":
                place = Path(argv[-1])
                place.unlink()
                place.mkdir()
        return self.answers.get(" ".join(argv[:2]), self.answers.get(argv[0], Ran(0, "", "")))


@dataclass
class Host:
    """One machine: boot it as often as you like."""

    layout: Layout
    cards: list[Card] = field(default_factory=lambda: [FIRST, SECOND])
    seeds: list[Found] = field(default_factory=list)
    programs: TablePrograms = field(default_factory=TablePrograms)
    name: str = ""

    def boot(self) -> Report:
        """A boot: /etc is the image's again."""
        self.layout.etc.mkdir(parents=True, exist_ok=True)
        (self.layout.etc / "shadow").write_text(SHADOW)

        def _name(name: str) -> None:
            self.name = name

        return Boot(self.layout, self.programs, self._find, lambda _: list(self.cards), _name).run()

    def seed(self, source: str = "NoCloud (/dev/sr0)", **values: object) -> None:
        """Attach a seed with these values."""
        self.seeds = [Found(source, {"instance_id": "one", **values})]

    def machine(self, uuid: str) -> None:
        """The hypervisor's id of this machine, as SMBIOS has it."""
        path = self.layout.root / "sys/class/dmi/id/product_uuid"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{uuid}\n")

    def text(self, path: str) -> str:
        """A file's content."""
        return (self.layout.root / path).read_text()

    def _find(self, programs: Programs, root: Path) -> list[Found]:
        return self.seeds


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    """A new machine."""
    account = pwd.struct_passwd(("admin", "x", os.getuid(), os.getgid(), "", "/data/home/admin", "/bin/bash"))
    monkeypatch.setattr(crypt, "_ROUNDS", 1000)
    monkeypatch.setattr(pwd, "getpwnam", lambda name: account if name == "admin" else None)
    return Host(Layout(tmp_path))
