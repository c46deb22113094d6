"""The setup of a forked child before its work: it ends with its parent, has a name, and yields resources."""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import signal
from contextlib import suppress
from pathlib import Path

from webui.logging_config import JsonLines
from webui.processes.part import Part

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_OOM_SCORE = Path("/proc/self/oom_score_adj")
"""An unprivileged process may only raise it."""
_libc = ctypes.CDLL(None)
_log = logging.getLogger(__name__)


def process_name(part: str) -> str:
    """The name shown by the kernel, ps and journald; at most 15 characters."""
    return f"web-{part}"


def become(part: Part, parent: int) -> None:
    """Turn this process into the part; it ends at once if ``parent``, which forked it, is gone."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    _libc.prctl(_PR_SET_NAME, process_name(part.name).encode())
    JsonLines.process = None if part.vital else part.name
    # Where a sandbox allows neither, the part still works.
    with suppress(OSError):
        _OOM_SCORE.write_text(str(max(part.oom_score_adj, int(_OOM_SCORE.read_text()))))
    with suppress(OSError):
        os.nice(part.nice)
    gc.enable()


def run(part: Part) -> int:
    """Do the part's work in this process; returns the exit code."""
    try:
        part.run()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        _log.exception("the part %s failed", part.name)
        return 1
    return 0
