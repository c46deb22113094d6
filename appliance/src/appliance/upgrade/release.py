"""What an image is."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.config.document import SCHEMA_VERSION
from appliance.upgrade.errors import UpgradeRefused


class Release(BaseModel):
    """Contents of ``release.json``; an image may say more."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    version: str
    commit: str
    built_s: int
    """When its sources were committed, seconds since 1970."""
    dataplane: Literal["vpp", "linux"]
    schema_version: int = SCHEMA_VERSION
    """Newest version of the configuration's schema that it reads."""


def read(path: Path) -> Release:
    """The release in a file. Raises UpgradeRefused."""
    try:
        return Release.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise UpgradeRefused(f"{path.name} does not say what image this is: {error}") from None
