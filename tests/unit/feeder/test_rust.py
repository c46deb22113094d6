"""The feeder's own unit tests, which Rust's test runner holds: parsing, layouts, the RIB's random walks."""

from __future__ import annotations

import re
import subprocess

from lab import rust_program
from tests import requirements

_PASSED = re.compile(r"^test result: ok\. (\d+) passed; 0 failed; 0 ignored", re.MULTILINE)
_AT_LEAST = 30


def test_the_feeders_own_tests_pass() -> None:
    """All tests run: those of a module that is no longer built would be missing."""
    requirements.require_rustc()
    program = rust_program.build("feeder", rust_program.TOOLS, tests=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=120)
    passed = _PASSED.search(done.stdout)
    assert done.returncode == 0 and passed is not None, done.stdout + done.stderr
    assert int(passed[1]) >= _AT_LEAST


def test_it_says_what_is_wrong_with_its_arguments() -> None:
    """One line that names the argument, the usage, and status 2."""
    requirements.require_rustc()
    program = rust_program.build("feeder", rust_program.TOOLS)
    for arguments, said in (
        (["--fpm", "nowhere"], "nowhere is no ADDRESS:PORT"),
        (["--lanes", "0"], "0 is no number of connections from 1 to 8"),
        (["--vpp"], "--vpp needs a value"),
        (["--fast", "1"], "there is no option --fast"),
    ):
        done = subprocess.run(
            [str(program), *arguments], capture_output=True, text=True, check=False, timeout=10
        )
        assert done.returncode == 2
        assert done.stderr.startswith(f"millrace-feeder: {said}\nusage: "), done.stderr
