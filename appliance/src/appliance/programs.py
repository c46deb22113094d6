"""Programs of the host that boot and console run: argument lists, never a shell."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from appliance.errors import MillraceError

_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}


class ProgramFailed(MillraceError):
    """A program ended with an error, or does not exist."""


@dataclass(frozen=True)
class Ran:
    """How a program ended."""

    code: int
    output: str
    """Standard output; may be anything, since part of it comes from outside."""
    error: str


class Programs(Protocol):
    """The outside world's programs."""

    def run(self, argv: Sequence[str], timeout_s: float = 30.0, text: str | None = None) -> Ran:
        """Run one, with ``text`` as its input. Raises ProgramFailed when it cannot be run or does not end."""


class HostPrograms:
    """The real ones."""

    def run(self, argv: Sequence[str], timeout_s: float = 30.0, text: str | None = None) -> Ran:
        """Run one; the caller judges its exit code."""
        try:
            done = subprocess.run(
                list(argv),
                input=text,
                stdin=subprocess.DEVNULL if text is None else None,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                check=False,
                env=_ENVIRONMENT,
            )
        except FileNotFoundError:
            raise ProgramFailed(f"{argv[0]} is not installed") from None
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ProgramFailed(f"{argv[0]}: {error}") from None
        return Ran(done.returncode, done.stdout, done.stderr)


def must(programs: Programs, argv: Sequence[str], timeout_s: float = 30.0, text: str | None = None) -> str:
    """Standard output of a program that has to succeed. Raises ProgramFailed."""
    done = programs.run(argv, timeout_s, text)
    if done.code != 0:
        raise ProgramFailed(f"{argv[0]}: {(done.error or done.output).strip()[-300:] or done.code}")
    return done.output


def run(argv: Sequence[str], text: str | None = None, timeout_s: float = 30.0) -> str:
    """``must`` with the host's own programs."""
    return must(HostPrograms(), argv, timeout_s, text)
