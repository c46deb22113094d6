"""The configuration file FRR boots with when nobody is there to configure it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from frr_config.config import FrrConfig

_MODE = 0o640
_OWNER = "frr"


def write_startup(config: FrrConfig, config_dir: Path) -> Path:
    """Replace ``frr.conf`` as a whole: whoever reads it sees the old file or the new one.

    It belongs to user and group frr where these exist, and others cannot read it: it holds passwords.
    """
    target = config_dir / "frr.conf"
    descriptor, name = tempfile.mkstemp(prefix=".frr.conf.", dir=config_dir)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(config.text())
            os.fchmod(file.fileno(), _MODE)
            # Not root, or no such user: the file stays the caller's.
            with contextlib.suppress(LookupError, PermissionError):
                shutil.chown(temporary, _OWNER, _OWNER)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    directory = os.open(config_dir, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
    return target
