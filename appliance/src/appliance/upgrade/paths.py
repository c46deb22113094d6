"""Where the parts of an upgrade are on the appliance; a test names a directory of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Paths:
    """Files of one router, below ``root``."""

    root: Path = Path("/")

    @property
    def command_line(self) -> Path:
        """The kernel's command line."""
        return self.root / "proc/cmdline"

    @property
    def environment_block(self) -> Path:
        """GRUB's variables."""
        return self.root / "efi/grub/grubenv"

    @property
    def release(self) -> Path:
        """The release of the running image."""
        return self.root / "usr/lib/millrace/release.json"

    @property
    def public_key(self) -> Path:
        """Public key of the maker of upgrades for this router."""
        return self.root / "usr/lib/millrace/upgrade.pub"

    @property
    def state(self) -> Path:
        """What outlives a boot: the upload, the attempt, the slots' versions. Root's alone."""
        return self.root / "var/lib/millrace/upgrade"

    @property
    def upload(self) -> Path:
        """The upgrade file, as far as it has arrived."""
        return self.state / "upload.mru"

    @property
    def attempt(self) -> Path:
        """The last upgrade, from its request to its outcome."""
        return self.state / "attempt.json"

    @property
    def contents(self) -> Path:
        """What each slot holds."""
        return self.state / "slots.json"

    @property
    def decided(self) -> Path:
        """Exists once a slot on trial is trusted: from then on the slot is not left automatically."""
        return self.run / "decided"

    @property
    def run(self) -> Path:
        """State that lives until the next boot."""
        return self.root / "run/millrace/upgrade"

    @property
    def request(self) -> Path:
        """The agent's request to the service."""
        return self.run / "request.json"

    @property
    def progress(self) -> Path:
        """The progress of the service."""
        return self.run / "progress.json"

    @property
    def shown(self) -> Path:
        """The slots, for the console; anybody may read it."""
        return self.root / "run/millrace/slots.json"

    @property
    def agent_socket(self) -> Path:
        """Of the agent."""
        return self.root / "run/millrace/agent.sock"

    def partition(self, slot: str) -> Path:
        """The block device of a slot."""
        return self.root / f"dev/disk/by-partlabel/mr-root-{slot}"
