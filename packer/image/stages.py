"""The stages of a build, in order; Packer runs them one by one, and each reads the result of the previous
one.
"""

import datetime as dt
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from packer.image import inventory
from packer.image.base_tree import make_base
from packer.image.bench_generator import install_bench_generator
from packer.image.bootloader import make_boot_loader
from packer.image.builder_apt import AptSources, sources
from packer.image.command import run
from packer.image.disk import SLOT_BYTES, make_disk
from packer.image.errors import BadSetting, BuildError
from packer.image.file_system import make_ext4
from packer.image.progress import say, step
from packer.image.python_code import (
    build_members,
    collect_static_files,
    compile_code,
    download_wheels,
    install_code,
)
from packer.image.qcow2 import make_qcow2
from packer.image.removal import remove_tree
from packer.image.root_tree import finish, make_initramfs, pack, unpack
from packer.image.rust_programs import install_rust_program
from packer.image.settings import REPOSITORY, BuildSettings
from packer.image.system_overlay import install_overlay, install_upgrade_key, write_release
from packer.image.tools_chroot import make_tools
from packer.image.trim import trim
from packer.image.vpp_packages import fetch_fdio_key, install_vpp, packages_in

VENDORED = REPOSITORY / "webui/src/webui/static/vendor"
"""Scripts, styles and icons of the pages, which `make assets` fetches."""


def _sources(settings: BuildSettings) -> AptSources:
    return sources(settings.debian_mirror, settings.debian_security_mirror)


def _disk(settings: BuildSettings) -> Path:
    return settings.work / f"{settings.name}.raw"


def signing_files(environment: Mapping[str, str]) -> tuple[str, str] | None:
    """Key and certificate that sign the OVA; None when neither is given. Raises BadSetting."""
    key, certificate = (environment.get(name, "") for name in ("OVA_SIGN_KEY", "OVA_SIGN_CERTIFICATE"))
    if bool(key) != bool(certificate):
        raise BadSetting("OVA_SIGN_KEY and OVA_SIGN_CERTIFICATE go together")
    for path in filter(None, (key, certificate)):
        if not (REPOSITORY / path).is_file():
            raise BadSetting(f"OVA_SIGN_KEY, OVA_SIGN_CERTIFICATE: there is no file {path}")
    return (key, certificate) if key else None


def check_own(folder: Path) -> None:
    """Raise BuildError when another user made `folder`: every user may make one in /dev/shm."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise BuildError(f"{folder} is not this user's own folder: delete it, or set MILLRACE_IMAGE_WORK")


def check(settings: BuildSettings) -> None:
    """Stop now, not in ten minutes, when something that the build needs is missing."""
    if os.geteuid() != 0:
        raise BuildError("building an image needs root: it installs Debian packages into a folder")
    signing_files(os.environ)
    if not VENDORED.is_dir():
        raise BuildError(f"{VENDORED} is missing, which the pages need: run make assets")
    if settings.vpp.folder is not None:
        packages_in(settings.vpp.folder)
    elif settings.vpp.kind == "fdio":
        fetch_fdio_key(settings.vpp)
    say(f"{settings.name}, commit {settings.commit}, VPP from {settings.vpp.folder or settings.vpp.kind}")
    if settings.modified:
        say("the checkout has changes that are not committed: the image is not the commit it names")
    if settings.debian_mirror and not settings.debian_security_mirror:
        say("DEBIAN_MIRROR without DEBIAN_SECURITY_MIRROR: the image has no security updates")
    say(f"cache {settings.cache}, trees in {settings.work}, artefacts in {settings.dist}")
    settings.work.mkdir(parents=True, exist_ok=True)
    check_own(settings.work)
    settings.dist.mkdir(parents=True, exist_ok=True)


def tools(settings: BuildSettings) -> None:
    """The tools chroot, unless it exists."""
    settings.work.mkdir(parents=True, exist_ok=True)
    make_tools(settings.tools, _sources(settings), settings.work / "tmp")


def base(settings: BuildSettings) -> None:
    """Debian's packages. With MILLRACE_IMAGE_KEEP_BASE=1 those of the last build are reused, despite any
    updates.
    """
    archive = settings.cache / "base.tar"
    if os.environ.get("MILLRACE_IMAGE_KEEP_BASE") == "1" and archive.exists():
        say(f"Debian packages: taking {archive} as it is")
    else:
        make_base(
            settings.work / "base.tar",
            _sources(settings),
            settings.work / "tmp",
            settings.source_date_epoch_s,
        )
        shutil.move(settings.work / "base.tar", archive)
    unpack(archive, settings.work / "root")


def vpp(settings: BuildSettings) -> None:
    """VPP's packages; the version goes into a file for the stage that writes release.json."""
    version = install_vpp(settings.work / "root", settings.vpp, _sources(settings))
    (settings.work / "vpp-version").write_text(version or "")


def code(settings: BuildSettings) -> None:
    """The appliance's Python code."""
    epoch_s = settings.source_date_epoch_s
    with step("wheels"):
        download_wheels(REPOSITORY, settings.cache / "wheels")
        build_members(REPOSITORY, settings.work / "members", epoch_s)
    install_code(REPOSITORY, settings.work / "root", settings.cache / "wheels", settings.work / "members")
    with step("BGP index"):
        install_rust_program("bgp-index", settings.work / "root", settings.cache / "rust")
    if (settings.work / "vpp-version").read_text():
        with step("FIB feeder"):
            install_rust_program("feeder", settings.work / "root", settings.cache / "rust")
        with step("packet generator"):
            install_bench_generator(settings.work / "root", settings.cache / "bench-generator")


def system(settings: BuildSettings) -> None:
    """Files, accounts, units, release.json, the upgrade key, the initramfs; then everything unneeded is
    removed.
    """
    root = settings.work / "root"
    install_overlay(REPOSITORY, root, settings.source_date_epoch_s)
    write_release(settings, root, (settings.work / "vpp-version").read_text() or None)
    install_upgrade_key(REPOSITORY, root)
    trim(root)
    collect_static_files(root)
    compile_code(root, settings.source_date_epoch_s)
    make_initramfs(root, settings.source_date_epoch_s)
    parts = inventory.components(root, settings.tools, REPOSITORY, settings.version)
    (settings.dist / f"{settings.name}.packages.txt").write_text(inventory.package_list(parts))
    when = dt.datetime.fromtimestamp(settings.source_date_epoch_s, dt.UTC)
    (settings.dist / f"{settings.name}.cdx.json").write_text(
        inventory.cyclonedx(parts, name="millrace", version=settings.version, timestamp=when.isoformat())
    )
    finish(root, settings.source_date_epoch_s)


def disk(settings: BuildSettings) -> None:
    """The root file system, the raw disk and the qcow2."""
    epoch_s, work = settings.source_date_epoch_s, settings.work
    with step("root file system"):
        pack(work / "root", work / "root.tar")
        make_ext4(
            settings.tools,
            work / "root.ext4",
            label="mr-root",
            size_bytes=SLOT_BYTES,
            source_date_epoch_s=epoch_s,
            archive=work / "root.tar",
        )
        (work / "root.tar").unlink()
    with step("disk"):
        loader = make_boot_loader(settings.tools, work / "grub")
        make_disk(
            settings.tools,
            work / "root.ext4",
            _disk(settings),
            loader,
            work=work / "parts",
            source_date_epoch_s=epoch_s,
        )
    with step("qcow2"):
        make_qcow2(settings.tools, _disk(settings), settings.dist / f"{settings.name}.qcow2")


def ova(settings: BuildSettings) -> None:
    """The OVA, the libvirt domain, the VNF descriptors and the upgrade file."""
    python = REPOSITORY / ".venv/bin/python"
    environment = {"SOURCE_DATE_EPOCH": str(settings.source_date_epoch_s)}
    qcow2 = f"{settings.name}.qcow2"
    build: list[str | Path] = [
        "build",
        "--disk",
        _disk(settings),
        "--version",
        settings.version,
        "--out",
        settings.dist,
    ]
    build += ["--dataplane", settings.vpp.dataplane]
    if signing := signing_files(os.environ):
        build += ["--sign-key", signing[0], "--sign-certificate", signing[1]]
    steps: list[tuple[str, list[str | Path]]] = [
        ("OVA", ["ova", *build]),
        ("check of the OVA", ["ova", "check", settings.dist / f"{settings.name}.ova"]),
        (
            "libvirt domain",
            [
                "ova",
                "domain",
                "--disk",
                f"/var/lib/libvirt/images/{qcow2}",
                "--out",
                settings.dist / f"{settings.name}.xml",
            ],
        ),
        (
            "VNF descriptors",
            [
                *("ova", "descriptors", "--version", settings.version, "--image", qcow2),
                *("--dataplane", settings.vpp.dataplane, "--out", settings.dist),
            ],
        ),
        (
            "upgrade file",
            [
                "appliance.upgrade.make",
                "--root",
                settings.work / "root.ext4",
                "--release",
                settings.work / "root/usr/lib/millrace/release.json",
                "--key",
                REPOSITORY / ".keys/upgrade.pem",
                "--out",
                settings.dist,
            ],
        ),
    ]
    for what, argv in steps:
        with step(what):
            run([python, "-m", *argv], cwd=REPOSITORY, environment=environment, timeout_s=1800)


def sums(settings: BuildSettings) -> None:
    """SHA256SUMS of this build's artefacts, and their sizes."""
    lines = []
    for path in sorted(settings.dist.iterdir()):
        if path.is_file() and path.name != "SHA256SUMS":
            with path.open("rb") as file:
                lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
            say(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")
    (settings.dist / "SHA256SUMS").write_text("".join(lines))


def tidy(settings: BuildSettings) -> None:
    """Free the memory that the trees took; MILLRACE_IMAGE_KEEP_WORK=1 keeps them for inspection."""
    if os.environ.get("MILLRACE_IMAGE_KEEP_WORK") != "1":
        remove_tree(settings.work)


STAGES: dict[str, Callable[[BuildSettings], None]] = {
    stage.__name__: stage for stage in (check, tools, base, vpp, code, system, disk, ova, sums, tidy)
}
