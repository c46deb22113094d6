"""The FIB feeder of `feeder/`: its command line."""

from collections.abc import Sequence
from pathlib import Path


def argv(
    program: Path,
    *,
    vpp: Path,
    status: Path,
    netns: str,
    fpm: str = "127.0.0.1:2620",
    options: Sequence[str] = (),
) -> list[str]:
    """The command that runs it, inside the network namespace `netns`."""
    command = [str(program), "--fpm", fpm, "--vpp", str(vpp), "--status", str(status), "--netns", netns]
    return [*command, *options]
