"""The Rust programs, each a folder of the repository, built once with the compiler of a Debian package."""

import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Literal

from lab.command import run
from lab.errors import MissingProgram
from lab.layout import REPOSITORY

Name = Literal["feeder", "bgp-index"]
"""A program's folder, and its installed name."""
PROGRAMS: tuple[Name, ...] = ("feeder", "bgp-index")
TOOLS = REPOSITORY / ".tools" / "rust"
"""The folder in which labs and tests keep the built programs."""
_BUILT_S = 900.0
"""A build takes 20 s of CPU time, which a busy machine may provide only slowly."""
_FLAGS = ("--edition", "2021", "-C", "opt-level=3", f"--remap-path-prefix={REPOSITORY}=millrace")


def compiler() -> Path | None:
    """This machine's rustc, 1.63 (Debian 12) or later; None where there is none."""
    found = shutil.which("rustc", path="/usr/bin") or shutil.which("rustc")
    return Path(found) if found else None


def build(name: Name, directory: Path, *, tests: bool = False) -> Path:
    """The compiled program, or its unit tests, in `directory`; built unless one built from these sources is
    there.

    Raises MissingProgram where there is no compiler.
    """
    rustc = compiler()
    if rustc is None:
        raise MissingProgram(f"a Rust compiler is needed to build {name}/ (Debian package rustc)")
    digest = hashlib.sha256(str(rustc).encode())
    for source in _sources():
        digest.update(str(source.relative_to(REPOSITORY)).encode() + b"\0" + source.read_bytes())
    made = directory / f"{name}{'-tests' if tests else ''}-{digest.hexdigest()[:12]}"
    if made.exists():
        return made
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        output = Path(scratch) / name
        kind = ["--test"] if tests else ["-C", "panic=abort", "-C", "strip=symbols"]
        main = REPOSITORY / name / "src" / "main.rs"
        run([str(rustc), *_FLAGS, *kind, str(main), "-o", str(output)], timeout_s=_BUILT_S)
        output.replace(made)
    return made


def copy(built: Path, target: Path) -> Path:
    """Put a built program elsewhere, where other users may run it, in place of one that may be running."""
    scratch = target.with_suffix(".new")
    shutil.copyfile(built, scratch)
    scratch.chmod(0o755)
    return scratch.replace(target)


def _sources() -> list[Path]:
    """The sources of all programs, because one includes modules of another by path."""
    return [source for name in PROGRAMS for source in sorted((REPOSITORY / name / "src").glob("*.rs"))]
