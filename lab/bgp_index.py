"""The index of BGP's routes of `bgp-index/`: its command line, and whether this machine can run it."""

from collections.abc import Sequence
from pathlib import Path

from lab import rust_program

BMP = "127.0.0.1:2630"
"""The address on which bgpd listens for it."""
MODULE = "bmp"
"""An option of bgpd, which then listens."""
_MODULES = Path("/usr/lib")
"""FRR's modules are in a folder below this one, named after the processor."""


def argv(program: Path, *, socket: Path, bmp: str = BMP, options: Sequence[str] = ()) -> list[str]:
    """The command that runs it, inside bgpd's network namespace; it answers on `socket`."""
    return [str(program), "--bmp", bmp, "--socket", str(socket), *options]


def lacking() -> str | None:
    """Why this machine cannot run it; None where it can."""
    if not any(_MODULES.glob(f"*/frr/modules/bgpd_{MODULE}.so")):
        return f"this FRR has no module {MODULE} of bgpd"
    if rust_program.compiler() is None:
        return "there is no Rust compiler (Debian package rustc)"
    return None
