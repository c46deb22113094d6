"""Putting a host file into its place."""

from __future__ import annotations

from pathlib import Path

from appliance.engine import durable
from appliance.engine.durable import Owner
from appliance.firstboot.host_files import HostFile


def put(root: Path, file: HostFile, like: Path | None = None) -> None:
    """Write a file whole; it belongs to root, or to whom ``like`` belongs to."""
    place = root / file.path
    durable.make_folder(place.parent)
    found = like.stat() if like is not None else None
    owner = Owner(found.st_uid, found.st_gid) if found is not None else None
    durable.write(place, file.content.encode(), file.mode, owner)
