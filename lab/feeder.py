"""The FIB feeder of `feeder/`: its command line."""

from pathlib import Path


def argv(program: Path, *, vpp: Path, status: Path, netns: str, fpm: str = "127.0.0.1:2620") -> list[str]:
    """The command that runs it, inside the network namespace `netns`."""
    return [str(program), "--fpm", fpm, "--vpp", str(vpp), "--status", str(status), "--netns", netns]
