"""The FIB feeder: built once from `feeder/` with the Rust compiler of a Debian package; its command line."""

import hashlib
import shutil
import tempfile
from pathlib import Path

from lab.command import run
from lab.errors import MissingProgram

_SOURCES = Path(__file__).resolve().parent.parent / "feeder" / "src"
_BUILT_S = 900.0
"""It takes 20 s of a processor, which a busy machine may not have for long."""
_FLAGS = ("--edition", "2021", "-C", "opt-level=3", f"--remap-path-prefix={_SOURCES}=feeder")


def compiler() -> Path | None:
    """rustc of this machine, 1.63 (Debian 12) or later; None where there is none."""
    found = shutil.which("rustc", path="/usr/bin") or shutil.which("rustc")
    return Path(found) if found else None


def build(directory: Path, *, tests: bool = False) -> Path:
    """The compiled feeder, or its unit tests, in `directory`; built unless it is there from these sources."""
    rustc = compiler()
    if rustc is None:
        raise MissingProgram("a Rust compiler is needed to build feeder/ (Debian package rustc)")
    digest = hashlib.sha256(str(rustc).encode())
    for source in sorted(_SOURCES.glob("*.rs")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    made = directory / f"{'feeder-tests' if tests else 'feeder'}-{digest.hexdigest()[:12]}"
    if made.exists():
        return made
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        output = Path(scratch) / "feeder"
        kind = ["--test"] if tests else ["-C", "panic=abort", "-C", "strip=symbols"]
        argv = [str(rustc), *_FLAGS, *kind, str(_SOURCES / "main.rs"), "-o", str(output)]
        run(argv, timeout_s=_BUILT_S)
        output.replace(made)
    return made


def argv(program: Path, *, vpp: Path, status: Path, netns: str, fpm: str = "127.0.0.1:2620") -> list[str]:
    """The command that runs it, inside the network namespace `netns`."""
    return [str(program), "--fpm", fpm, "--vpp", str(vpp), "--status", str(status), "--netns", netns]
