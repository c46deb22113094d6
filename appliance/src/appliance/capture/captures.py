"""The captures of the agent: those that run, and the files of those that ended, within fixed space."""

from __future__ import annotations

import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from appliance.capture.pcap_file import NotPcap, Records
from appliance.capture.source import Source
from appliance.engine import durable
from appliance.engine.reserve import Room, is_full
from appliance.errors import Conflict, MillraceError, NotFound, StorageFull
from appliance.state.captures import (
    KEPT_BYTES,
    MOST_KEPT,
    MOST_PART_BYTES,
    MOST_RUNNING,
    CaptureState,
    CaptureWanted,
)

T = TypeVar("T")
log = logging.getLogger(__name__)
_PIECE_BYTES = 1024 * 1024
_END_S = 15.0


@dataclass
class _Running:
    state: CaptureState
    records: Records
    began: float
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def now(self) -> CaptureState:
        """As far as it is."""
        return self.state.model_copy(
            update={
                "packets": self.records.packets,
                "size_bytes": self.records.size_bytes,
                "ran_s": round(time.monotonic() - self.began, 1),
            }
        )


class CaptureFiles:
    """Captures whose files are in ``folder``. Safe to use from any thread; holds no lock of a commit.

    ``check`` raises for a capture that is not possible; ``source`` returns the origin of the packets.
    """

    def __init__(
        self,
        folder: Path,
        room: Callable[[], Room],
        check: Callable[[CaptureWanted], None],
        source: Callable[[], Source],
    ) -> None:
        self._folder, self._room, self._check, self._source = folder, room, check, source
        self._lock = threading.Lock()
        self._running: dict[str, _Running] = {}
        self._starting: list[CaptureWanted] = []
        durable.make_folder(folder, 0o700)
        self._ended: dict[str, CaptureState] = {state.id: state for state in self._found()}
        """The oldest first."""

    def all(self) -> tuple[CaptureState, ...]:
        """Every capture, the newest first."""
        with self._lock:
            return tuple(
                reversed((*self._ended.values(), *(running.now() for running in self._running.values())))
            )

    def start(self, wanted: CaptureWanted, author: str) -> CaptureState:
        """Begin one; packets are captured when this returns.

        Raises ValidationFailed for a filter that cannot be, NotFound, Conflict while others run, StorageFull,
        RouterUnavailable, CaptureFailed.
        """
        self._check(wanted)
        with self._lock:
            if len(self._running) + len(self._starting) >= MOST_RUNNING:
                raise Conflict(f"{MOST_RUNNING} captures run already: stop one, or wait")
            self._require_room(wanted)
            self._starting.append(wanted)
        try:
            source = self._source()
            source.begin(wanted)
            try:
                return self._follow(source, wanted, author)
            except BaseException:
                _abandon(source, wanted)
                raise
        finally:
            with self._lock:
                self._starting.remove(wanted)

    def stop(self, capture: str) -> CaptureState:
        """End one, and wait until its file is whole. One that has ended stays as it is. Raises NotFound."""
        with self._lock:
            running = self._running.get(capture)
        if running is not None:
            running.stop.set()
            assert running.thread is not None
            running.thread.join(_END_S)
        return self._state(capture)

    def remove(self, capture: str) -> CaptureState:
        """Remove the file of one that has ended. Raises NotFound, Conflict while it runs."""
        with self._lock:
            if capture in self._running:
                raise Conflict(f"capture {capture} runs: stop it first")
            state = self._ended.get(capture)
            if state is None:
                raise NotFound(f"there is no capture {capture}")
            self._forget(capture)
            return state

    def read(self, capture: str, offset: int, size_bytes: int) -> bytes:
        """A part of the file of one that has ended; empty behind its end. Raises NotFound, Conflict."""
        state = self._state(capture)
        if state.state == "running":
            raise Conflict(f"capture {capture} runs: stop it first")
        wanted = min(size_bytes, MOST_PART_BYTES, state.size_bytes - offset)
        if wanted <= 0:
            return b""
        try:
            with self._path(capture).open("rb") as stream:
                stream.seek(offset)
                return stream.read(wanted)
        except OSError as error:
            raise NotFound(f"the file of capture {capture} cannot be read: {error.strerror}") from error

    def close(self) -> None:
        """End those that run; their files stay."""
        with self._lock:
            running = list(self._running.values())
        for one in running:
            one.stop.set()
        for one in running:
            assert one.thread is not None
            one.thread.join(_END_S)

    # Inside.

    def _state(self, capture: str) -> CaptureState:
        with self._lock:
            if (running := self._running.get(capture)) is not None:
                return running.now()
            if (ended := self._ended.get(capture)) is not None:
                return ended
        raise NotFound(f"there is no capture {capture}")

    def _follow(self, source: Source, wanted: CaptureWanted, author: str) -> CaptureState:
        state = CaptureState(
            id=secrets.token_hex(6),
            wanted=wanted,
            author=author,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            state="running",
            ran_s=0.0,
            packets=0,
            size_bytes=0,
            note=source.note,
        )
        descriptor = self._new_files(state)

        def write(data: bytes) -> None:
            while data:
                data = data[os.write(descriptor, data) :]

        running = _Running(state, Records(write, wanted.packets, wanted.size_bytes), time.monotonic())
        running.thread = threading.Thread(
            target=self._run, args=(source, running, descriptor), name=f"capture-{state.id}"
        )
        with self._lock:
            for oldest in self._too_many(wanted, after_start=True):
                self._forget(oldest)
            running.thread.start()
            self._running[state.id] = running
        return state

    def _new_files(self, state: CaptureState) -> int:
        """The descriptor of its file. Raises StorageFull."""
        try:
            durable.write_json(self._path(state.id, "json"), state.model_dump(mode="json"))
            return durable.new_file(self._path(state.id))
        except OSError as error:
            self._remove_files(state.id)
            if is_full(error):
                raise StorageFull("the disk is full: nothing can be captured") from error
            raise

    def _run(self, source: Source, running: _Running, descriptor: int) -> None:
        state, lost = running.state, None
        try:
            ended = source.run(state.wanted, running.records, running.stop)
            how, why, lost = "done", ended.why, ended.lost
        except OSError as error:
            how, why = "failed", "the disk is full" if is_full(error) else f"its file: {error.strerror}"
        except (MillraceError, NotPcap) as error:
            how, why = "failed", str(error)
        except Exception as error:
            log.exception("capture %s", state.id)
            how, why = "failed", str(error) or type(error).__name__
        finally:
            os.close(descriptor)
        state = running.now().model_copy(update={"state": how, "ended": why, "lost": lost})
        with suppress(OSError):
            durable.write_json(self._path(state.id, "json"), state.model_dump(mode="json"))
        with self._lock:
            del self._running[state.id]
            self._ended[state.id] = state
        log.info("capture %s on %s: %s, %d packets", state.id, state.interface, why, state.packets)

    def _require_room(self, wanted: CaptureWanted) -> None:
        """Raises StorageFull where the disk has no room for another, even without the oldest."""
        room = self._room()
        freed = sum(self._ended[oldest].size_bytes for oldest in self._too_many(wanted))
        if room.free_bytes + freed < room.needed_bytes + self._promised_bytes() + wanted.size_bytes:
            raise StorageFull(
                f"the disk has no room for a capture of {wanted.size_bytes:,} bytes beside the router's own"
            )

    def _too_many(self, wanted: CaptureWanted, *, after_start: bool = False) -> list[str]:
        """The oldest, which go for another: nothing is removed before that one captures."""
        promised = self._promised_bytes() + (0 if after_start else wanted.size_bytes)
        active = len(self._running) + len(self._starting) + (0 if after_start else 1)
        left = [(state.id, state.size_bytes) for state in self._ended.values()]
        gone = []
        while left and (
            len(left) + active > MOST_KEPT or promised + sum(size for _, size in left) > KEPT_BYTES
        ):
            gone.append(left.pop(0)[0])
        return gone

    def _promised_bytes(self) -> int:
        """What those that run or begin may still write, at most."""
        return sum(
            wanted.size_bytes
            for wanted in (*self._starting, *(running.state.wanted for running in self._running.values()))
        )

    def _forget(self, capture: str) -> None:
        del self._ended[capture]
        self._remove_files(capture)

    def _remove_files(self, capture: str) -> None:
        for kind in ("pcap", "json"):
            with suppress(OSError):
                durable.remove(self._path(capture, kind))

    def _path(self, capture: str, kind: str = "pcap") -> Path:
        return self._folder / f"{capture}.{kind}"

    def _found(self) -> list[CaptureState]:
        """What another agent left, the oldest first; files that belong to nothing are removed."""
        found = []
        for path in self._folder.glob("*.json"):
            try:
                state = CaptureState.model_validate(json.loads(path.read_bytes()))
            except (OSError, ValueError, ValidationError):
                continue
            if state.id == path.stem:
                found.append(self._cut_short(state) if state.state == "running" else state)
        known = {state.id for state in found}
        for path in self._folder.iterdir():
            if path.stem not in known:
                with suppress(OSError):
                    durable.remove(path)
        return sorted(found, key=lambda state: state.started_at)

    def _cut_short(self, state: CaptureState) -> CaptureState:
        """One that ran when its agent ended: the whole records of its file are kept."""
        records = Records(lambda _: None, state.wanted.packets, state.wanted.size_bytes)
        with suppress(OSError, NotPcap), self._path(state.id).open("rb") as stream:
            while (data := stream.read(_PIECE_BYTES)) and not records.full:
                records.feed(data)
        ended = state.model_copy(
            update={
                "state": "failed",
                "ended": "the agent ended while it ran",
                "packets": records.packets,
                "size_bytes": records.size_bytes,
            }
        )
        durable.write_json(self._path(state.id, "json"), ended.model_dump(mode="json"))
        return ended


def _abandon(source: Source, wanted: CaptureWanted) -> None:
    """End one that has begun and has no file."""
    stop = threading.Event()
    stop.set()
    with suppress(Exception):
        source.run(wanted, Records(lambda _: None, wanted.packets, wanted.size_bytes), stop)
