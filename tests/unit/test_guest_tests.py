"""The tests that run inside a router's guest need no package that the guest lacks."""

import os
import subprocess
import sys

import pytest

_PROGRAM = """
import sys

class Lacked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"xdist", "selenium", "schemathesis", "hypothesis"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Lacked())
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "tests",
    [
        "tests/integration/linux",
        "tests/integration/vpp_dataplane/test_random_documents.py",
        "tests/integration/vpp_dataplane/test_router.py",
        "tests/integration/frr/test_policy_effect.py",
    ],
)
def test_they_are_collected_without_what_the_guest_lacks(tests: str) -> None:
    argv = [sys.executable, "-c", _PROGRAM, "-p", "pytest_asyncio.plugin", "-p", "pytest_timeout"]
    argv += ["-o", "addopts=--import-mode=importlib", "-p", "no:cacheprovider", "--collect-only", "-q", tests]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
