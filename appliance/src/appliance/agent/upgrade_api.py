"""Upgrades over the agent's socket: the file in parts, the request, and the progress."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from aiohttp import web
from aiohttp.typedefs import Middleware
from pydantic import BaseModel, ConfigDict, Field

from appliance.agent.bodies import body, query
from appliance.agent.problems import Handler
from appliance.engine import durable
from appliance.engine.engine import Engine
from appliance.errors import Conflict, NotFound
from appliance.state.commit_options import Author
from appliance.upgrade import attempt, progress, release, slots
from appliance.upgrade.attempt import DEADLINE_S, LONGEST_DEADLINE_S, SHORTEST_DEADLINE_S, Request
from appliance.upgrade.bundle import Manifest
from appliance.upgrade.errors import UpgradeRefused
from appliance.upgrade.install import admit, admit_age, admit_schema, admit_slot_age, older
from appliance.upgrade.paths import Paths
from appliance.upgrade.progress import Progress
from appliance.upgrade.slots import Slots
from appliance.upgrade.units import Service, SystemdService
from appliance.upgrade.upload import MAX_PART_BYTES, Upload, Uploaded

T = TypeVar("T")
_CHANGES = {"/v1/commit", "/v1/edits/commit", "/v1/rollback"}
_BUSY = {"starting", "checking", "writing", "verifying", "rebooting"}


class _Request(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PartQuery(_Request):
    """``PUT /v1/upgrade/file``: where the part goes, and how long the whole file is, in bytes."""

    offset: int = Field(ge=0)
    size: int = Field(gt=0)


class InstallBody(_Request):
    """``POST /v1/upgrade/install``."""

    author: Author
    reboot: bool = True
    allow_downgrade: bool = False
    deadline_s: float = Field(default=DEADLINE_S, ge=SHORTEST_DEADLINE_S, le=LONGEST_DEADLINE_S)


class SwitchBody(_Request):
    """``POST /v1/upgrade/switch``."""

    author: Author
    allow_downgrade: bool = False
    deadline_s: float = Field(default=DEADLINE_S, ge=SHORTEST_DEADLINE_S, le=LONGEST_DEADLINE_S)


class UpgradeApi:
    """Handlers of upgrades, which ``service`` performs."""

    def __init__(self, engine: Engine, paths: Paths, service: Service | None = None) -> None:
        self._engine, self._paths, self._service = engine, paths, service or SystemdService()
        self._upload = Upload(paths)
        # One thread: parts and requests come one after the other.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="upgrade")
        # A boot either is a trial or not: commits need not check each time.
        self._booted_on_trial = self._on_trial()

    def routes(self) -> list[web.RouteDef]:
        """The endpoints."""
        return [
            web.get("/v1/upgrade", self.state),
            web.put("/v1/upgrade/file", self.part),
            web.delete("/v1/upgrade/file", self.forget),
            web.post("/v1/upgrade/install", self.install),
            web.post("/v1/upgrade/switch", self.switch),
        ]

    def close(self) -> None:
        """Release the thread."""
        self._pool.shutdown(wait=True)

    def refuse_on_trial(self) -> Middleware:
        """Middleware: no commit while the slot is on trial.

        The old slot must still be able to read the configuration after a return to it.
        """

        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            changes = request.method == "POST" and request.path in _CHANGES
            if changes and self._booted_on_trial and await self._call(self._on_trial):
                raise Conflict("this version is on trial after an upgrade; commit when it has been kept")
            return await handler(request)

        return check

    async def state(self, _request: web.Request) -> web.Response:
        """Slots, upload, progress and the last attempt."""
        return web.json_response(await self._call(self._state))

    async def part(self, request: web.Request) -> web.Response:
        """A part of the upgrade file."""
        where = query(request, PartQuery)
        data = await request.content.read(-1) if _fits(request) else b""
        uploaded = await self._call(lambda: self._add(data, where))
        return web.json_response(
            {
                "received_bytes": uploaded.received_bytes,
                "size_bytes": uploaded.size_bytes,
                "manifest": self._shown(uploaded.manifest),
            }
        )

    async def forget(self, _request: web.Request) -> web.Response:
        """Remove the upload."""
        await self._call(self._upload.forget)
        return web.json_response({})

    async def install(self, request: web.Request) -> web.Response:
        """Write the upload into the other slot, and boot it unless told otherwise."""
        asked = await body(request, InstallBody)
        await self._call(lambda: self._install(asked))
        return web.json_response({}, status=202)

    async def switch(self, request: web.Request) -> web.Response:
        """Boot the other slot as it is, once; it stays if it is healthy."""
        asked = await body(request, SwitchBody)
        await self._call(lambda: self._switch(asked))
        return web.json_response({}, status=202)

    def _state(self) -> dict[str, Any]:
        try:
            found = slots.read(self._paths)
            runs = release.read(self._paths.release)
        except UpgradeRefused as error:
            return {"available": False, "reason": str(error)}
        manifest = self._upload.whole()
        last, now = attempt.read(self._paths.attempt), self._progress()
        return {
            "available": True,
            "reason": "",
            "release": runs.model_dump(),
            "slots": {
                "running": found.running,
                "good": found.good,
                "next": found.tried,
                "on_trial": found.on_trial,
                "contents": {
                    slot: {**content.model_dump(), "older": slot != found.running and older(content, runs)}
                    for slot, content in found.contents.items()
                },
            },
            "upload": self._shown(manifest),
            "progress": now.model_dump() if now is not None else None,
            "attempt": last.model_dump(exclude={"before"}) if last is not None else None,
        }

    def _shown(self, manifest: Manifest | None) -> dict[str, Any] | None:
        """A manifest, and whether it is ``older`` than the running system."""
        if manifest is None:
            return None
        return {**manifest.model_dump(), "older": older(manifest, release.read(self._paths.release))}

    def _add(self, data: bytes, where: PartQuery) -> Uploaded:
        self._free()
        return self._upload.add(data, where.offset, where.size, self._document_schema())

    def _install(self, asked: InstallBody) -> None:
        self._free()
        manifest = self._upload.whole()
        if manifest is None:
            raise NotFound("there is no upgrade file: send it first")
        runs = release.read(self._paths.release)
        admit(manifest, runs, self._document_schema())
        admit_age(manifest, runs, asked.allow_downgrade)
        self._ask(
            Request(
                action="install",
                author=asked.author,
                document_schema=self._document_schema(),
                allow_downgrade=asked.allow_downgrade,
                reboot=asked.reboot,
                deadline_s=asked.deadline_s,
            )
        )

    def _switch(self, asked: SwitchBody) -> None:
        found = self._free()
        content = found.contents.get(found.other)
        if content is None or not content.whole:
            raise NotFound(f"slot {found.other} holds no complete system")
        admit_schema(content.version, content.schema_version, self._document_schema())
        admit_slot_age(content, release.read(self._paths.release), asked.allow_downgrade)
        self._ask(
            Request(
                action="switch",
                author=asked.author,
                document_schema=self._document_schema(),
                allow_downgrade=asked.allow_downgrade,
                deadline_s=asked.deadline_s,
            )
        )

    def _free(self) -> Slots:
        """The slots, when nothing else is under way. Raises Conflict, UpgradeRefused."""
        found = slots.read(self._paths)
        if found.on_trial:
            raise Conflict(f"slot {found.running} is on trial: wait until it is decided")
        now = self._progress()
        if now is not None and now.state in _BUSY:
            raise Conflict("an upgrade is under way")
        if self._engine.pending_confirm() is not None:
            raise Conflict("a commit awaits confirmation: confirm it, or let it be rolled back")
        return found

    def _progress(self) -> Progress | None:
        """The progress. A service that ended before it was done has failed, whatever it last reported."""
        now = progress.read(self._paths.progress)
        if now is None and self._paths.request.exists():
            now = Progress(state="starting", percent=0, detail="")
        if now is None or now.state not in _BUSY or now.state == "rebooting" or self._service.works():
            return now
        # It may have written its last report since it was read.
        now = progress.read(self._paths.progress) or now
        if now.state not in _BUSY or now.state == "rebooting":
            return now
        detail = f"the service ended while {now.state}; journalctl -u millrace-upgrade says more"
        return Progress(state="failed", percent=now.percent, detail=detail)

    def _ask(self, request: Request) -> None:
        durable.make_folder(self._paths.run, 0o700)
        self._paths.progress.unlink(missing_ok=True)
        durable.write(self._paths.request, request.model_dump_json().encode())
        try:
            self._service.start()
        except BaseException:
            self._paths.request.unlink(missing_ok=True)
            raise

    def _document_schema(self) -> int:
        return int(self._engine.config()["document"].get("schema_version", 1))

    def _on_trial(self) -> bool:
        try:
            return slots.read(self._paths).on_trial
        except UpgradeRefused:
            return False

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


def _fits(request: web.Request) -> bool:
    """Whether the part's declared length is one that is accepted."""
    return request.content_length is not None and request.content_length <= MAX_PART_BYTES
