"""The host's files as a backend of the transaction engine."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

from appliance.dataplane.object_step import ObjectStep
from appliance.engine import durable
from appliance.engine.backend import Backend, BackendUnavailable, StepError
from appliance.host.state import CHRONY, HOSTNAME, MANAGED, SERVES, HostEntry, HostState

_MAX_BYTES = 65536
"""The size limit of a file that another program may have written."""
_TIMEOUT_S = 10


class HostBackend(Backend[HostState, HostState, ObjectStep]):
    """Writes below ``root``. Only with ``/`` does it also set the running host's name and notify chrony."""

    name = "host"

    def __init__(self, root: Path) -> None:
        self._root = root
        self._live = root == Path("/")
        for path in MANAGED:
            durable.forget_draft(root / path)

    def observe(self) -> HostState:
        """The files as observed."""
        entries = (self._read(path) for path in MANAGED)
        return HostState({entry.path: entry for entry in entries if entry is not None})

    def plan(self, desired: HostState, observed: HostState) -> Sequence[ObjectStep]:
        """A step for each file that differs. Pure."""
        steps = []
        for path in MANAGED:
            before, after = observed.get(path), desired.get(path)
            if before == after or (after is None and before is not None and not before.ours):
                continue
            verb = "write" if after is not None else "remove"
            undo = "put back" if before is not None else "remove"
            name = f"/{path}"
            steps.append(
                ObjectStep(
                    "create" if after is not None else "delete",
                    f"{verb} {name}",
                    f"{undo} {name}",
                    "none",
                    SERVES[path],
                    path,
                    before,
                    after,
                )
            )
        return steps

    def apply(self, step: ObjectStep) -> None:
        """Write or remove the step's file."""
        self._write(step.key, step.after)

    def undo(self, step: ObjectStep) -> None:
        """Restore the step's file."""
        self._write(step.key, step.before)

    def _read(self, path: str) -> HostEntry | None:
        place = self._root / path
        try:
            if place.is_symlink():
                return HostEntry(path, "link", str(place.readlink()))
            with place.open("rb") as file:
                return HostEntry(path, "file", file.read(_MAX_BYTES).decode("utf-8", "surrogateescape"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BackendUnavailable(self.name, f"cannot read /{path}: {error.strerror}") from error

    def _write(self, path: str, entry: HostEntry | None) -> None:
        place = self._root / path
        try:
            if entry is None:
                durable.remove(place)
            else:
                _replace(place, entry)
            if self._live:
                self._tell(path, entry)
        except OSError as error:
            raise StepError(f"cannot write /{path}: {error.strerror or error}") from error

    def _tell(self, path: str, entry: HostEntry | None) -> None:
        """The running host follows its files."""
        if path == HOSTNAME and entry is not None:
            socket.sethostname(entry.content.strip())
        elif path == CHRONY and (chronyc := shutil.which("chronyc", path="/usr/bin:/bin")) is not None:
            try:
                done = subprocess.run(
                    [chronyc, "reload", "sources"],
                    capture_output=True,
                    text=True,
                    timeout=_TIMEOUT_S,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise StepError(f"chronyc did not answer within {_TIMEOUT_S} s") from None
            # A chronyd that does not run needs no notification: it reads the file when it starts.
            if done.returncode != 0 and "506" not in done.stdout:
                raise StepError(f"chronyc refused: {(done.stderr or done.stdout).strip()[:200]}")


def _replace(place: Path, entry: HostEntry) -> None:
    """The new content is there whole or not at all, also after a power cut."""
    durable.make_folder(place.parent)
    if entry.kind == "link":
        durable.link(place, entry.content)
    else:
        durable.write(place, entry.content.encode("utf-8", "surrogateescape"), 0o644)
