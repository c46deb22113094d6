"""Putting a host file into its place."""

from __future__ import annotations

import os
from pathlib import Path

from appliance.engine import durable
from appliance.firstboot.host_files import HostFile


def put(root: Path, file: HostFile, like: Path | None = None) -> None:
    """Write a file whole; it belongs to root, or to whom ``like`` belongs to."""
    place = root / file.path
    place.parent.mkdir(parents=True, exist_ok=True)
    owner = like.stat() if like is not None else None
    durable.write(place, file.content.encode(), file.mode)
    place.chmod(file.mode)
    if owner is not None:
        os.chown(place, owner.st_uid, owner.st_gid)
