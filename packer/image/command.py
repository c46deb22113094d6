"""Running the build's programs: typed argument vectors, a time limit, a named error."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from packer.image.errors import CommandFailed, MissingProgram

CHROOT = Path(__file__).resolve().parents[1] / "chroot"


def run(
    argv: Sequence[str | Path],
    *,
    stdin: str | None = None,
    timeout_s: float = 1200.0,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> str:
    """Run `argv` to its end and return its standard output.

    `environment` is added to the builder's own. Raises CommandFailed on a non-zero status or after
    `timeout_s`, MissingProgram when there is no such program.
    """
    words = [str(word) for word in argv]
    try:
        done = subprocess.run(
            words,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            env={**os.environ, **(environment or {})},
            cwd=cwd,
            check=False,
        )
    except FileNotFoundError as error:
        raise MissingProgram(f"{words[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise CommandFailed(words, -1, f"still running after {timeout_s:g} s") from error
    if done.returncode != 0:
        raise CommandFailed(words, done.returncode, done.stderr or done.stdout)
    return done.stdout


def run_in(
    root: Path,
    argv: Sequence[str | Path],
    *,
    binds: Mapping[Path, str] | None = None,
    stdin: str | None = None,
    timeout_s: float = 1200.0,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run `argv` in the tree `root`; `binds` maps a path of the builder to its path inside.

    The environment contains only PATH, HOME, LC_ALL and `environment`, because the builder's variables must
    not change the image. Raises as `run`.
    """
    mounts = [word for source, target in (binds or {}).items() for word in ("-b", f"{source}:{target}")]
    inside = {"HOME": "/", "DEBIAN_FRONTEND": "noninteractive", **(environment or {})}
    settings = [f"{name}={value}" for name, value in sorted(inside.items())]
    clean = ["/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", *settings]
    return run([CHROOT, *mounts, root, *clean, *argv], stdin=stdin, timeout_s=timeout_s)
