"""The index's own unit tests, which Rust's test runner holds, and its arguments."""

from __future__ import annotations

import re
import subprocess

from lab import rust_program
from tests import requirements

_PASSED = re.compile(r"^test result: ok\. (\d+) passed; 0 failed; 0 ignored", re.MULTILINE)
_AT_LEAST = 41


def test_the_indexs_own_tests_pass() -> None:
    """All tests run: those of a module that is no longer built would be missing."""
    requirements.require_rustc()
    program = rust_program.build("bgp-index", rust_program.TOOLS, tests=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=120)
    passed = _PASSED.search(done.stdout)
    assert done.returncode == 0 and passed is not None, done.stdout + done.stderr
    assert int(passed[1]) >= _AT_LEAST


def test_it_says_what_is_wrong_with_its_arguments() -> None:
    """One line that names the argument, the usage, and status 2."""
    requirements.require_rustc()
    program = rust_program.build("bgp-index", rust_program.TOOLS)
    for arguments, said in (
        (["--bmp", "nowhere"], "nowhere is no ADDRESS:PORT"),
        (["--idle", "0"], "0 is no number of seconds from 1 to 86400"),
        (["--most", "-1"], "-1 is no number of routes from 1 to 100000000"),
        (["--most-mib", "x"], "x is no number of MiB from 1 to 65536"),
        (["--socket"], "--socket needs a value"),
        (["--fast", "1"], "there is no option --fast"),
    ):
        done = subprocess.run(
            [str(program), *arguments], capture_output=True, text=True, check=False, timeout=10
        )
        assert done.returncode == 2
        assert done.stderr.startswith(f"millrace-bgp-index: {said}\nusage: "), done.stderr
