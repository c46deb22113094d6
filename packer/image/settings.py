"""The settings of one build, read from the environment that Packer and make pass on."""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from packer.image.command import run
from packer.image.errors import BadSetting

REPOSITORY = Path(__file__).resolve().parents[2]
DEFAULT_CACHE = REPOSITORY / ".image"

# With less free memory than this, the trees are made on disk: some four times slower, otherwise the same.
MEMORY_WANTED_BYTES = 10 * 1024**3
# The part of it that /dev/shm must provide: it has half of the memory on a plain Debian, 64 MB in most
# containers.
SHARED_WANTED_BYTES = 6 * 1024**3


@dataclass(frozen=True)
class VppSource:
    """The source of VPP's packages: FD.io's repository, a folder of .deb files, or nowhere.

    `key_sha256` is the required digest of the repository's key; empty expects the key of the first build.
    """

    kind: Literal["fdio", "dir", "none"]
    folder: Path | None = None
    key_sha256: str = ""

    @property
    def dataplane(self) -> Literal["vpp", "linux"]:
        """The data plane of the image."""
        return "linux" if self.kind == "none" else "vpp"


def parse_vpp_source(text: str, key_sha256: str = "") -> VppSource:
    """Read `fdio`, `dir:PATH` or `none`. Raises BadSetting naming VPP_SOURCE."""
    if text == "fdio":
        return VppSource("fdio", key_sha256=key_sha256)
    if text == "none":
        return VppSource("none")
    kind, _, path = text.partition(":")
    if kind == "dir" and path:
        folder = Path(path).expanduser().absolute()
        if not folder.is_dir():
            raise BadSetting(f"VPP_SOURCE: there is no folder {folder}")
        return VppSource("dir", folder)
    raise BadSetting(f"VPP_SOURCE is `{text}`: give fdio, dir:PATH or none")


@dataclass(frozen=True)
class BuildSettings:
    """Everything that a build depends on besides the repository's own files."""

    version: str
    commit: str
    modified: bool
    source_date_epoch_s: int
    vpp: VppSource
    cache: Path
    work: Path
    dist: Path
    debian_mirror: str = ""
    debian_security_mirror: str = ""

    @property
    def tools(self) -> Path:
        """The tools chroot."""
        return self.cache / "tools"

    @property
    def name(self) -> str:
        """The artefacts' name without its suffix."""
        return f"millrace-{self.version}" + ("-linux" if self.vpp.dataplane == "linux" else "")


def project_version(pyproject: Path) -> str:
    """The version that `pyproject` declares."""
    version: str = tomllib.loads(pyproject.read_text())["project"]["version"]
    return version


def _git(*words: str) -> str:
    return run(["git", "-c", f"safe.directory={REPOSITORY}", "-C", REPOSITORY, *words]).strip()


def _epoch(environment: Mapping[str, str]) -> int:
    text = environment.get("SOURCE_DATE_EPOCH", "") or _git("log", "-1", "--format=%ct")
    if not re.fullmatch(r"[0-9]{1,12}", text):
        raise BadSetting(f"SOURCE_DATE_EPOCH is `{text}`: give seconds since 1970")
    return int(text)


def holds_trees(found: os.statvfs_result) -> bool:
    """Whether trees fit into a file system, and their programs may run there."""
    return found.f_bavail * found.f_frsize >= SHARED_WANTED_BYTES and not found.f_flag & os.ST_NOEXEC


def _work(environment: Mapping[str, str], cache: Path) -> Path:
    if given := environment.get("MILLRACE_IMAGE_WORK", ""):
        # A folder of our own below it: existing files are never deleted.
        return Path(given).absolute() / "millrace-image"
    memory = Path("/dev/shm")
    available = re.search(r"^MemAvailable: +([0-9]+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    enough = available is not None and int(available[1]) * 1024 >= MEMORY_WANTED_BYTES
    if enough and memory.is_dir() and holds_trees(os.statvfs(memory)):
        return memory / "millrace-image"
    return cache / "work"


def read_settings(environment: Mapping[str, str]) -> BuildSettings:
    """The settings in `environment`; unset ones have the repository's values. Raises BadSetting."""
    cache = Path(environment.get("MILLRACE_IMAGE_CACHE", "") or DEFAULT_CACHE).absolute()
    return BuildSettings(
        version=environment.get("MILLRACE_VERSION", "") or project_version(REPOSITORY / "pyproject.toml"),
        commit=_git("rev-parse", "HEAD"),
        modified=bool(_git("status", "--porcelain")),
        source_date_epoch_s=_epoch(environment),
        vpp=parse_vpp_source(
            environment.get("VPP_SOURCE", "") or "fdio", environment.get("FDIO_KEY_SHA256", "")
        ),
        cache=cache,
        work=_work(environment, cache),
        dist=Path(environment.get("MILLRACE_DIST", "") or REPOSITORY / "dist").absolute(),
        debian_mirror=environment.get("DEBIAN_MIRROR", ""),
        debian_security_mirror=environment.get("DEBIAN_SECURITY_MIRROR", ""),
    )
