"""Programs of the host that the boot runs."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from appliance.errors import MillraceError

_TIMEOUT_S = 30
_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}


class ProgramFailed(MillraceError):
    """A program could not be run, or said that it failed."""


def run(argv: Sequence[str], text: str | None = None, timeout_s: float = _TIMEOUT_S) -> str:
    """What it prints; ``text`` is its standard input. Raises ProgramFailed."""
    try:
        done = subprocess.run(
            list(argv),
            input=text,
            stdin=subprocess.DEVNULL if text is None else None,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            env=_ENVIRONMENT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProgramFailed(f"{argv[0]}: {error}") from error
    if done.returncode != 0:
        raise ProgramFailed(f"{' '.join(argv)}: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout
