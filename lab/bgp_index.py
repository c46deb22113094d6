"""The index of BGP's routes of `bgp-index/`: its command line, and whether this machine can have it."""

from pathlib import Path

from lab import rust_program

BMP = "127.0.0.1:2630"
"""Where bgpd listens for it."""
MODULE = "bmp"
"""Of bgpd, which then listens."""
_MODULES = Path("/usr/lib")
"""FRR's modules are below, in a folder named after the processor."""


def argv(program: Path, *, socket: Path, bmp: str = BMP) -> list[str]:
    """The command that runs it, inside bgpd's network namespace; `socket` is where it answers."""
    return [str(program), "--bmp", bmp, "--socket", str(socket)]


def lacking() -> str | None:
    """Why this machine cannot have it; None where it can."""
    if not any(_MODULES.glob(f"*/frr/modules/bgpd_{MODULE}.so")):
        return f"this FRR has no module {MODULE} of bgpd"
    if rust_program.compiler() is None:
        return "there is no Rust compiler (Debian package rustc)"
    return None
