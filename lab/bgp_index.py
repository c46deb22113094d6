"""The index of BGP's routes of `bgp-index/`: its command line."""

from pathlib import Path

BMP = "127.0.0.1:2630"
"""Where bgpd listens for it."""


def argv(program: Path, *, socket: Path, bmp: str = BMP) -> list[str]:
    """The command that runs it, inside bgpd's network namespace; `socket` is where it answers."""
    return [str(program), "--bmp", bmp, "--socket", str(socket)]
