"""Running other programs: typed argument vectors, a time limit, a named error."""

import subprocess
from collections.abc import Mapping, Sequence

from lab.errors import CommandFailed, MissingProgram


def run(
    argv: Sequence[str],
    *,
    stdin: str | None = None,
    timeout_s: float = 60.0,
    env: Mapping[str, str] | None = None,
    check: bool = True,
) -> str:
    """Run `argv` to its end and return its standard output.

    Raises CommandFailed on a non-zero status (unless `check` is false) or after `timeout_s`, MissingProgram
    when the program does not exist.
    """
    try:
        done = subprocess.run(
            list(argv),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            env=None if env is None else dict(env),
            check=False,
        )
    except FileNotFoundError as error:
        raise MissingProgram(f"{argv[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise CommandFailed(argv, -1, f"still running after {timeout_s:g} s") from error
    if check and done.returncode != 0:
        raise CommandFailed(argv, done.returncode, done.stderr or done.stdout)
    return done.stdout
