"""An appliance as files in a directory: slots, GRUB's variables, a key and upgrade files to try on it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from appliance.upgrade import grubenv, make, signing
from appliance.upgrade.health import SERVICES, Facts
from appliance.upgrade.install import Machine
from appliance.upgrade.paths import Paths

SLOT_BYTES = 4 << 20
RELEASE: dict[str, Any] = {
    "version": "1.0.0",
    "commit": "0123456789abcdef",
    "built_s": 1_700_000_000,
    "dataplane": "vpp",
    "schema_version": 1,
    "vpp_version": "26.06",
    "debian": "13.2",
}
WELL = Facts(
    revision=7,
    links_up=frozenset({"lan0", "wan0"}),
    bgp_established=frozenset({"192.0.2.1"}),
    ospf_full=frozenset({"192.0.2.130 on lan0"}),
    services=dict.fromkeys(SERVICES, "running"),
)


@dataclass
class Appliance:
    """The files, and the messages to the rest of the machine."""

    paths: Paths
    keys: Path
    seen: list[Facts | Exception] = field(default_factory=lambda: [WELL])
    """The observations, one for each query; the last one is repeated."""
    reboots: int = 0

    @property
    def machine(self) -> Machine:
        """The machine that the service works on."""
        return Machine(self.paths, self._observe, self._reboot)

    def _observe(self) -> Facts:
        facts = self.seen.pop(0) if len(self.seen) > 1 else self.seen[0]
        if isinstance(facts, Exception):
            raise facts
        return facts

    def _reboot(self) -> None:
        self.reboots += 1

    def boot(self) -> str:
        """GRUB's action: boot the slot to try once, or the good one. Returns the slot."""
        block = grubenv.read(self.paths.environment_block)
        tried, good = block.get("try", ""), block["good"]
        slot = tried or good
        if tried:
            grubenv.change(self.paths.environment_block, **{"try": ""})
        self.start(slot, tried=bool(tried))
        return slot

    def start(self, slot: str, tried: bool = False) -> None:
        """Run this slot."""
        words = f"root=PARTLABEL=mr-root-{slot} ro millrace.slot={slot}" + (
            " millrace.try=1" if tried else ""
        )
        self.paths.command_line.write_text(words + " panic=-1\n")

    def runs(self, **changes: Any) -> None:
        """The running image's description of itself."""
        self.paths.release.write_text(json.dumps({**RELEASE, **changes}))

    def slot(self, name: str) -> bytes:
        """Content of a partition."""
        return self.paths.partition(name).read_bytes()

    def upgrade_file(self, content: bytes, key: str = "key.pem", **changes: Any) -> Path:
        """A new upgrade file of this root file system, signed."""
        made_of = self.keys / "release.json"
        made_of.write_text(json.dumps({**RELEASE, "version": "2.0.0", **changes}))
        root = self.keys / "root.ext4"
        root.write_bytes(content)
        return make.make(root, made_of, self.keys / key, self.keys / "dist")

    def upload(self, content: bytes, **changes: Any) -> None:
        """Put an upgrade file where an upload would have put it."""
        self.paths.state.mkdir(parents=True, exist_ok=True)
        self.upgrade_file(content, **changes).rename(self.paths.upload)


def appliance_in(directory: Path) -> Appliance:
    """A fresh appliance that runs slot a."""
    paths = Paths(directory / "root")
    for path in (paths.command_line, paths.environment_block, paths.release, paths.partition("a"), paths.run):
        path.parent.mkdir(parents=True, exist_ok=True)
    (paths.root / "proc/mounts").write_text(f"{paths.partition('a')} / ext4 ro 0 0\n")
    paths.environment_block.write_bytes(grubenv.render({"good": "a", "try": ""}))
    for slot in "ab":
        paths.partition(slot).write_bytes(slot.encode() * SLOT_BYTES)
    keys = directory / "keys"
    signing.make_key(keys / "key.pem")
    signing.make_key(keys / "stranger.pem")
    paths.public_key.write_bytes(signing.public_pem(keys / "key.pem"))
    made = Appliance(paths, keys)
    made.start("a")
    made.runs()
    return made


def file_system(seed: int = 1, size: int = 3 << 20) -> bytes:
    """Something like a file system: data, a hole, data."""
    data = Random(seed).randbytes(64 << 10)
    return data + bytes(size - 2 * len(data)) + data
