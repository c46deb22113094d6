"""Settings of the whole machine that labs change, and restore when the last lab ends.

Every running lab has a file in /run/millrace-lab, named by its prefix, with its directory and the original
values from before any lab changed them. Only the last lab to end restores them, because others may still need
the changes.
"""

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from lab.errors import LabError
from lab.namespaces import Dataplane

_PORTS = range(8443, 8643)
_NETLINK_BUFFER_BYTES = 134_217_728
_HUGEPAGES = "vm/nr_hugepages"
_RECEIVE_LIMIT = "net/core/rmem_max"


@dataclass(frozen=True)
class Registered:
    """A running lab; `originals` maps a setting (a path below /proc/sys) to its value before any lab ran.

    `port` is the TCP port reserved for its page, 0 before there is one. `maker` is the process that created
    it, which for `lab up` ends once the lab's own processes run.
    """

    directory: str
    originals: dict[str, str]
    port: int = 0
    maker: int = 0


@dataclass(frozen=True)
class Register:
    """The running labs of this machine and the settings they changed."""

    directory: Path = Path("/run/millrace-lab")
    settings: Path = Path("/proc/sys")

    def find(self, prefix: str) -> Registered | None:
        """The running lab with this prefix, if any."""
        path = self._entry(prefix)
        return Registered(**json.loads(path.read_text())) if path.exists() else None

    def enrol(self, prefix: str, lab_directory: Path, dataplane: Dataplane) -> None:
        """Register the lab, then raise the settings that its data plane needs. Repeating this has no
        further effect.
        """
        needs = _needs(dataplane)
        with self._alone():
            known: dict[str, str] = {}
            for lab in self._all().values():
                known |= lab.originals
            present = {name: value for name in needs if (value := self._read(name)) is not None}
            mine = self.find(prefix)
            port = 0 if mine is None else mine.port
            self._put(prefix, Registered(str(lab_directory), {**present, **known}, port, os.getpid()))
            for name, value in present.items():
                if int(value) < needs[name]:
                    self._write(name, str(needs[name]))

    def reserve_port(self, prefix: str, lab_directory: Path, is_free: Callable[[int], bool]) -> int:
        """A port for the lab's page, from 8443 on: free, and not reserved by another lab. Raises LabError."""
        with self._alone():
            labs = self._all()
            mine = labs.pop(prefix, Registered(str(lab_directory), {}))
            taken = {lab.port for lab in labs.values()}
            for port in _PORTS:
                if port not in taken and is_free(port):
                    self._put(prefix, replace(mine, port=port))
                    return port
        raise LabError(f"no TCP port from {_PORTS.start} to {_PORTS.stop - 1} is free")

    def leave(self, prefix: str) -> None:
        """Remove the lab from the register; the last one restores the settings. No error where it is not
        registered.
        """
        if not self.directory.is_dir():
            return
        with self._alone():
            mine = self.find(prefix)
            originals = {} if mine is None else mine.originals
            self._entry(prefix).unlink(missing_ok=True)
            others = self._all()
            for other, lab in others.items():
                self._put(other, replace(lab, originals={**originals, **lab.originals}))
            if others:
                return
            for name, value in originals.items():
                if self._read(name) != value:
                    self._write(name, value)
            (self.directory / "lock").unlink()
            self.directory.rmdir()

    def _all(self) -> dict[str, Registered]:
        return {
            path.stem: Registered(**json.loads(path.read_text())) for path in self.directory.glob("*.json")
        }

    def _put(self, prefix: str, lab: Registered) -> None:
        temporary = self._entry(prefix).with_suffix(".new")
        temporary.write_text(json.dumps(asdict(lab)))
        temporary.replace(self._entry(prefix))

    def _entry(self, prefix: str) -> Path:
        return self.directory / f"{prefix}.json"

    def _read(self, name: str) -> str | None:
        path = self.settings / name
        return path.read_text().strip() if path.exists() else None

    def _write(self, name: str, value: str) -> None:
        (self.settings / name).write_text(f"{value}\n")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        lock_file = self.directory / "lock"
        while True:
            self.directory.mkdir(mode=0o755, exist_ok=True)
            try:
                lock = lock_file.open("w")
            except FileNotFoundError:
                continue  # the last lab has just ended and removed the directory
            with lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if lock_file.exists():
                    yield
                    return


def _needs(dataplane: Dataplane) -> dict[str, int]:
    """Setting -> its minimum. VPP reserves huge pages itself, so their number is recorded too."""
    if dataplane == "linux":
        return {}
    # zebra reads the kernel's routes: with small buffers a full table causes resyncs.
    return {_RECEIVE_LIMIT: _NETLINK_BUFFER_BYTES, _HUGEPAGES: 0}
