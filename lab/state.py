"""The record of everything a lab makes, written before it is made, so that `down` can undo exactly that."""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import TypeAdapter

from lab.namespaces import Dataplane


@dataclass(frozen=True)
class LabState:
    """Everything that exists because of this lab.

    `paths` are trees and files outside the lab's own directory. `shared_directories` may hold the files of
    others and are removed only when empty. `namespace_mount` says that the lab turned /run/netns into a
    mount.
    """

    prefix: str
    dataplane: Dataplane
    database: Literal["sqlite", "postgres"] = "sqlite"
    stage: Literal["topology", "routing", "agent", "all"] = "all"
    dataplane_reason: str = ""
    web_port: int = 0
    web_uid: int = 0
    namespaces: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    shared_directories: tuple[str, ...] = ()
    namespace_mount: bool = False
    initial_commit: bool = True
    initial_commit_done: bool = False

    def changed(self, **changes: Any) -> Self:
        """A copy with `changes`."""
        return replace(self, **changes)

    def owning(self, paths: Iterable[Path], shared: Iterable[Path] = ()) -> Self:
        """A copy with these added to the record, each once."""
        return self.changed(
            paths=_merged(self.paths, paths),
            shared_directories=_merged(self.shared_directories, shared),
        )


def _merged(known: tuple[str, ...], more: Iterable[Path]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *(str(path) for path in more))))


def load(path: Path) -> LabState | None:
    """The recorded state, or None where there is none. Raises ValueError on a damaged file."""
    if not path.exists():
        return None
    return TypeAdapter(LabState).validate_json(path.read_bytes())


def save(path: Path, state: LabState) -> None:
    """Write the record so that a crash leaves either the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    with temporary.open("w") as stream:
        json.dump(asdict(state), stream, indent=1, sort_keys=True)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
