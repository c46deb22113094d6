"""The NICs' names, recorded from boot to boot: ``/var/lib/millrace/platform/nics.json``."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from appliance.engine import durable
from appliance.engine.known_fields import known_fields
from appliance.platform.identity import Identity

log = logging.getLogger(__name__)

MEMORY = Path("/var/lib/millrace/platform/nics.json")


def recall(path: Path = MEMORY) -> tuple[Identity, ...]:
    """The NICs present before; none if there is no readable record, and the log says so."""
    try:
        entries = json.loads(path.read_bytes())["nics"]
        return tuple(Identity(**known_fields(Identity, entry)) for entry in entries)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        log.error("%s cannot be read, so NICs have the names of this boot: %s", path, error)
        return ()


def remember(identities: Iterable[Identity], path: Path = MEMORY) -> None:
    """Write them down, durably. Raises OSError."""
    durable.make_folder(path.parent)
    entries = {"nics": [asdict(identity) for identity in identities]}
    durable.write(path, json.dumps(entries, indent=1).encode() + b"\n", 0o644)
