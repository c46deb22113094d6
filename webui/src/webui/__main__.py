"""``python -m webui``: Django's commands, ``prepare``, ``bootstrap_admin`` and ``serve``."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run one command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webui.settings")
    if sys.argv[1:2] in (["prepare"], ["collectstatic"]):
        os.environ["MILLRACE_COLLECTING"] = "1"
    from django.core.management import execute_from_command_line

    execute_from_command_line(["webui", *sys.argv[1:]])


if __name__ == "__main__":
    main()
