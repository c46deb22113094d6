"""Seed disks as a hypervisor would attach them: small ISO 9660 images with Rock Ridge and Joliet names."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.command import run
from tests.image import hypervisor


def make(path: Path, label: str, files: Mapping[str, str]) -> Path:
    """Write an ISO with this volume label and these files (path in the ISO: text); returns `path`."""
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in files.items():
            file = Path(scratch, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        path.unlink(missing_ok=True)
        run(
            [
                *hypervisor.program("xorriso"),
                "-as",
                "mkisofs",
                "-quiet",
                "-V",
                label,
                "-r",
                "-J",
                "-o",
                str(path),
                scratch,
            ]
        )
    return path


def nocloud(
    path: Path,
    *,
    instance_id: str,
    user_data: Mapping[str, Any],
    network_config: Mapping[str, Any] | None = None,
) -> Path:
    """A NoCloud disk. The three files are YAML, of which JSON is a part."""
    files = {
        "meta-data": json.dumps({"instance-id": instance_id}),
        "user-data": "#cloud-config\n" + json.dumps(user_data, indent=1),
    }
    if network_config is not None:
        files["network-config"] = json.dumps(network_config, indent=1)
    return make(path, "cidata", files)
