"""Running modules of this repository inside the guest, with the guest's own Millrace."""

from __future__ import annotations

from tests.image.artefacts import REPOSITORY
from tests.image.router import Router

PYTHON = "/usr/lib/millrace/venv/bin/python"


def send_modules(router: Router, tree: str, files: list[str]) -> None:
    """Copy files of the repository, with their paths, into the guest's directory `tree`."""
    router.send_tree(REPOSITORY, files, tree)


def run_module(
    router: Router, tree: str, module: str, *arguments: str, unit: str | None = None, timeout_s: float = 120
) -> str:
    """Run a module below `tree` as root and return its output; with `unit`, start it as that unit."""
    argv = ["env", f"PYTHONPATH={tree}", "PYTHONDONTWRITEBYTECODE=1", PYTHON, "-m", module, *arguments]
    if unit is not None:
        argv = ["systemd-run", "--quiet", "--collect", f"--unit={unit}", "--", *argv]
    return router.root(*argv, timeout_s=timeout_s)
