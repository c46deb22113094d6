"""The configuration file from which FRR boots while nothing else configures it."""

from __future__ import annotations

import grp
import os
import stat
from contextlib import suppress
from pathlib import Path

from frr_config.config import FrrConfig

_MODE = 0o640
_GROUP = "frr"
_DRAFT = ".frr.conf.new"


def write_startup(config: FrrConfig, config_dir: Path) -> Path:
    """Replace ``frr.conf`` atomically: a reader sees the old file or the new one.

    The file belongs to the caller, and to group frr where that exists; others cannot read it, because it
    holds passwords. Raises PermissionError where another user may write in ``config_dir``: a symbolic link
    put there at the right moment would give that user any file of the system.
    """
    folder = os.open(config_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        found = os.fstat(folder)
        if found.st_uid not in (0, os.geteuid()) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(f"{config_dir} has to belong to root, and nobody else may write in it")
        with suppress(FileNotFoundError):
            os.unlink(_DRAFT, dir_fd=folder)
        descriptor = os.open(
            _DRAFT, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder
        )
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(config.text())
            file.flush()
            # Not root, or no such group: the file stays the caller's alone.
            with suppress(LookupError, PermissionError):
                os.fchown(descriptor, -1, grp.getgrnam(_GROUP).gr_gid)
            os.fchmod(descriptor, _MODE)
            os.fsync(descriptor)
        os.rename(_DRAFT, "frr.conf", src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    finally:
        os.close(folder)
    return config_dir / "frr.conf"
