"""BIRD in a network namespace of its own, configured by the test that uses it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import TracebackType

from tests.integration.frr.harness import ip

BIRD, BIRDC = "/usr/sbin/bird", "/usr/sbin/birdc"


def bird_installed() -> bool:
    """Whether BIRD is installed."""
    return shutil.which(BIRD) is not None


class BirdNeighbor:
    """BIRD with this configuration. Enter it to make the namespace; ``start`` when its links are there."""

    def __init__(self, netns: str, directory: Path, configuration: str) -> None:
        self.netns, self._directory = netns, directory
        self._configuration = configuration
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> BirdNeighbor:
        ip("netns", "add", self.netns)
        ip("-n", self.netns, "link", "set", "lo", "up")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(30)
        ip("netns", "del", self.netns, check=False)

    def add_address(self, interface: str, address: str) -> None:
        """An address on one of its links."""
        ip("-n", self.netns, "address", "add", address, "dev", interface)

    def start(self) -> None:
        """Start BIRD."""
        configuration = self._directory / "bird.conf"
        configuration.write_text(self._configuration)
        argv = ["ip", "netns", "exec", self.netns, BIRD, "-f", "-c", str(configuration), "-s", self._control]
        with (self._directory / "bird.log").open("wb") as output:
            self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def birdc(self, *words: str) -> str:
        """What birdc prints."""
        argv = [BIRDC, "-s", self._control, *words]
        return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=30).stdout

    def seen(self) -> str:
        """What BIRD shows of its protocols, or why it shows nothing, and what it logged."""
        try:
            shown = self.birdc("show", "protocols", "all")
        except subprocess.SubprocessError as error:
            ended = None if self._process is None else self._process.poll()
            shown = f"{error}; BIRD's exit status: {ended}"
        return f"{shown}\n{(self._directory / 'bird.log').read_text(errors='replace')}"

    def nft(self, rules: str) -> None:
        """Change the packet filter of the namespace."""
        argv = ["ip", "netns", "exec", self.netns, "nft", "-f", "-"]
        subprocess.run(argv, input=rules, check=True, capture_output=True, text=True, timeout=30)

    @property
    def _control(self) -> str:
        return str(self._directory / "bird.ctl")
