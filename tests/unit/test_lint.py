"""The linters are tests: code that they refuse does not pass."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


@pytest.mark.timeout(900)  # mypy without its cache, on two busy cores
@pytest.mark.parametrize(
    "argv",
    [
        ("ruff", "check", "--output-format", "concise", "."),
        ("ruff", "format", "--check", "."),
        ("mypy",),
        ("lint-imports",),
    ],
    ids=" ".join,
)
def test_lint(argv: tuple[str, ...]) -> None:
    done = subprocess.run([BIN / argv[0], *argv[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
