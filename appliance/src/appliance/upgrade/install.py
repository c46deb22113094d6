"""The service's work: the upload into the other slot, and the one boot of it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import MillraceError
from appliance.upgrade import attempt as attempts
from appliance.upgrade import bundle as bundles
from appliance.upgrade import grubenv, health, image_writer, release, slots, versions, zstandard
from appliance.upgrade.attempt import Attempt, Request
from appliance.upgrade.bundle import Bundle, Manifest
from appliance.upgrade.errors import UpgradeRefused
from appliance.upgrade.health import Facts
from appliance.upgrade.paths import Paths
from appliance.upgrade.progress import Progress, Reporter, of_work
from appliance.upgrade.release import Release
from appliance.upgrade.slots import Content, Slots

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Machine:
    """The router as the service sees it; a test gives its own."""

    paths: Paths
    observe: Callable[[], Facts]
    """What works now. Raises MillraceError."""
    reboot: Callable[[], None]
    """Returns at once; the reboot follows."""


def perform(machine: Machine, request: Request, reporter: Reporter) -> None:
    """Carry out the request. Raises MillraceError, OSError; then the running slot is as before."""
    found = slots.read(machine.paths)
    if found.on_trial:
        raise UpgradeRefused(f"slot {found.running} is on trial itself: wait until it is decided")
    if request.action == "install":
        _install(machine.paths, found, request, reporter)
        if not request.reboot:
            reporter.say(
                Progress(state="ready", percent=100, detail=f"slot {found.other} waits to be booted")
            )
            return
        found = slots.read(machine.paths)
    _switch(machine, found, request, reporter)


def admit(manifest: Manifest, runs: Release, document_schema: int) -> None:
    """Raises UpgradeRefused when the image does not suit this router."""
    if manifest.dataplane != runs.dataplane:
        raise UpgradeRefused(
            f"the upgrade is for the {manifest.dataplane} data plane, this router has {runs.dataplane}"
        )
    admit_schema(manifest.version, manifest.schema_version, document_schema)


def admit_age(manifest: Manifest, runs: Release, allow_downgrade: bool) -> None:
    """Raises UpgradeRefused when the image is older than the running one, and that was not requested."""
    if older(manifest, runs) and not allow_downgrade:
        raise UpgradeRefused(
            f"version {manifest.version} is older than {runs.version}, which runs: vulnerabilities fixed "
            "since would be open again. To install it anyway, allow the downgrade (allow-downgrade)"
        )


def admit_slot_age(content: Content, runs: Release, allow_downgrade: bool) -> None:
    """Raises UpgradeRefused when a slot may hold an older image than the running one, and that was not
    requested.
    """
    if older(content, runs) and not allow_downgrade:
        raise UpgradeRefused(
            f"version {content.version} is older than {runs.version}, which runs, or its age is not "
            "recorded: vulnerabilities fixed since would be open again. To boot it anyway, allow the "
            "downgrade (allow-downgrade)"
        )


def older(image: Manifest | Content, runs: Release) -> bool:
    """Whether an upgrade file or a slot would take the router back. A signature is good all the same.

    A slot of the running version whose age is not known may be older, and counts as such.
    """
    if image.built_s is None and image.version == runs.version:
        return True
    return versions.is_older(image.version, image.built_s, runs.version, runs.built_s)


def admit_schema(version: str, schema_version: int, document_schema: int) -> None:
    """Raises UpgradeRefused when an image cannot read this router's configuration."""
    if schema_version < document_schema:
        raise UpgradeRefused(
            f"version {version} reads configurations up to schema {schema_version}, "
            f"this router's has schema {document_schema}"
        )


def _install(paths: Paths, found: Slots, request: Request, reporter: Reporter) -> None:
    bundle = bundles.open_bundle(paths.upload, paths.public_key)
    manifest = bundle.manifest
    runs = release.read(paths.release)
    admit(manifest, runs, request.document_schema)
    admit_age(manifest, runs, request.allow_downgrade)
    partition = paths.partition(found.other)
    _check_disk(paths, paths.partition(found.running), partition)
    _check_free(paths, partition)
    room = image_writer.size_bytes(partition)
    if manifest.root_bytes > room:
        raise UpgradeRefused(f"the image has {manifest.root_bytes} bytes, slot {found.other} only {room}")
    reporter.say(of_work("checking", 0, 1))
    bundles.check_packed(bundle)
    content = Content(
        version=manifest.version,
        schema_version=manifest.schema_version,
        built_s=manifest.built_s,
        whole=False,
    )
    slots.write_contents(paths.contents, {**found.contents, found.other: content})
    # Booted by hand, the running slot need not be the trusted one, and the trusted one must not be
    # overwritten.
    grubenv.change(paths.environment_block, good=found.running, **{"try": ""})
    try:
        _write(bundle, partition, reporter)
    except BaseException:
        image_writer.spoil(partition)
        raise
    whole = content.model_copy(update={"whole": True})
    slots.write_contents(paths.contents, {**found.contents, found.other: whole})
    log.info("version %s is in slot %s", manifest.version, found.other)


def _write(bundle: Bundle, partition: Path, reporter: Reporter) -> None:
    manifest = bundle.manifest
    unpacked = zstandard.unpacked(bundle.path, bundle.packed_at, manifest.packed_bytes)
    try:
        image_writer.write(
            partition,
            unpacked,
            manifest.root_bytes,
            lambda done: reporter.say(of_work("writing", done, manifest.root_bytes)),
        )
    finally:
        unpacked.close()
    image_writer.check(
        partition,
        manifest.root_bytes,
        manifest.root_sha256,
        lambda done: reporter.say(of_work("verifying", done, manifest.root_bytes)),
    )


def _check_disk(paths: Paths, running: Path, partition: Path) -> None:
    """Raises UpgradeRefused unless both, and /efi, are of the disk that runs: another one may have the same
    names.
    """
    try:
        mounts = (paths.root / "proc/mounts").read_text()
    except OSError as error:
        raise UpgradeRefused(f"what is mounted cannot be read: {error}") from None
    fields = (line.split() for line in mounts.splitlines())
    mounted = [Path(device) for device, place, *_ in fields if place in ("/", "/efi")]
    disks = {_disk(paths, place) for place in (*mounted, running.resolve(), partition.resolve())} - {None}
    if len(disks) > 1:
        raise UpgradeRefused("a second disk has the same partition names: detach it, then upgrade")


def _disk(paths: Paths, device: Path) -> Path | None:
    """The disk of a partition, in sysfs; None when the kernel does not say."""
    place = paths.root / "sys/class/block" / device.name
    return place.resolve().parent if place.exists() else None


def _check_free(paths: Paths, partition: Path) -> None:
    """Raises UpgradeRefused when somebody has mounted the slot."""
    try:
        mounts = (paths.root / "proc/mounts").read_text()
    except OSError as error:
        raise UpgradeRefused(f"what is mounted cannot be read: {error}") from None
    device = str(partition.resolve())
    for line in mounts.splitlines():
        words = line.split()
        if len(words) > 1 and words[0] in (device, str(partition)):
            raise UpgradeRefused(f"the other slot is in use: it is mounted at {words[1]}")


def _switch(machine: Machine, found: Slots, request: Request, reporter: Reporter) -> None:
    paths, content = machine.paths, found.contents.get(found.other)
    if content is None or not content.whole:
        raise UpgradeRefused(f"slot {found.other} holds no complete system")
    admit_schema(content.version, content.schema_version, request.document_schema)
    admit_slot_age(content, release.read(paths.release), request.allow_downgrade)
    seen = machine.observe()
    if seen.awaits_confirmation:
        # Its rollback would be a commit of the version on trial, which the old one may not be able to read.
        raise UpgradeRefused("a commit awaits confirmation: confirm it or roll it back, then switch")
    attempt = Attempt(
        version=content.version,
        slot=found.other,
        from_slot=found.running,
        author=request.author,
        started_at=attempts.now(),
        deadline_s=request.deadline_s,
        before=health.before(seen),
    )
    attempts.write(paths.attempt, attempt)
    try:
        # The running slot is named too: a new image's block may say nothing yet.
        grubenv.change(paths.environment_block, good=found.running, **{"try": found.other})
        reporter.say(
            Progress(state="rebooting", percent=100, detail=f"into slot {found.other}: {content.version}")
        )
        log.info("rebooting into slot %s, version %s", found.other, content.version)
        machine.reboot()
    except (MillraceError, OSError) as error:
        # Nothing stays armed: a power cut weeks later must not boot the other slot.
        attempts.write(paths.attempt, attempts.ended(attempt, "returned", f"it was not booted: {error}"))
        grubenv.change(paths.environment_block, **{"try": ""})
        raise
