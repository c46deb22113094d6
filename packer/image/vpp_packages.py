"""VPP's packages in the image, from FD.io's repository or from a folder, and never silently left out."""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from packer.image.builder_apt import AptSources
from packer.image.command import run, run_in
from packer.image.errors import CommandFailed, SourceUnavailable
from packer.image.progress import say, step
from packer.image.settings import REPOSITORY, VppSource

RELEASE = "26.06-release"
KNOWN_KEY = REPOSITORY / ".keys/fdio.sha256"
_FDIO_REPOSITORY = "https://packagecloud.io/fdio/release"
# FD.io's packages for Debian 12 run on Debian 13 as well.
_FDIO_SUITE = "bookworm"
WANTED = ("libvppinfra", "vpp", "vpp-plugin-core")
DIGESTS = REPOSITORY / "setup/vpp-26.06-release.sha256"
"""SHA-256 of RELEASE's packages, as sha256sum writes them. Absent: the build says whose word it trusts."""
OPTIONAL = ("vpp-plugin-dpdk", "vpp-crypto-engines")

# Their post-install would reserve huge pages on the builder.
_ENVIRONMENT = {"VPP_INSTALL_SKIP_SYSCTL": "1"}
_PROXIES = ("http_proxy", "https_proxy", "no_proxy")
_HASHES = "[hash_algorithms]"
_SHA1_TAKEN = ("sha1.second_preimage_resistance = 2100-01-01", "sha1.collision_resistance = 2100-01-01")


def packages_in(folder: Path) -> tuple[Path, ...]:
    """The .deb files of WANTED and OPTIONAL in `folder`, newest version of each name first found.

    Raises SourceUnavailable naming a missing or duplicate package.
    """
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("*.deb")):
        found.setdefault(path.name.partition("_")[0], []).append(path)
    missing = [name for name in WANTED if name not in found]
    if missing:
        raise SourceUnavailable(f"VPP_SOURCE: no package {', '.join(missing)} in {folder}")
    twice = [name for name in (*WANTED, *OPTIONAL) if len(found.get(name, [])) > 1]
    if twice:
        raise SourceUnavailable(f"VPP_SOURCE: more than one version of {', '.join(twice)} in {folder}")
    return tuple(found[name][0] for name in (*WANTED, *OPTIONAL) if name in found)


def _apt(
    root: Path,
    words: Sequence[str],
    sources: AptSources,
    extra: Mapping[Path, str],
    environment: Mapping[str, str] | None = None,
) -> None:
    options = root / "etc/apt/apt.conf.d/90-image-build"
    options.write_text("".join(f"{line}\n" for line in sources.options))
    resolver = root / "etc/resolv.conf"
    kept = resolver.read_bytes() if resolver.exists() else None
    resolver.unlink(missing_ok=True)
    shutil.copyfile("/etc/resolv.conf", resolver)
    try:
        run_in(
            root,
            ["apt-get", "-qq", "-y", "--no-install-recommends", "-o", "Dpkg::Use-Pty=0", *words],
            binds=extra,
            environment={**_ENVIRONMENT, **_proxies(), **(environment or {})},
        )
    finally:
        options.unlink()
        resolver.unlink()
        if kept is not None:
            resolver.write_bytes(kept)


def _proxies() -> dict[str, str]:
    """A builder that uses a proxy uses it from inside, too."""
    return {name: value for name, value in os.environ.items() if name.lower() in _PROXIES}


@contextmanager
def _sha1_taken(root: Path) -> Iterator[dict[str, str]]:
    """The environment in which apt in `root` accepts a key like FD.io's; see `with_sha1`."""
    default = root / "usr/share/apt/default-sequoia.config"
    if not default.exists():
        yield {}  # an apt that has no such policy
        return
    place = root / "etc/apt/fdio-signatures.config"
    place.write_text(with_sha1(default.read_text()))
    try:
        yield {"APT_SEQUOIA_CRYPTO_POLICY": f"/{place.relative_to(root)}"}
    finally:
        place.unlink()


def with_sha1(policy: str) -> str:
    """apt's policy for signatures, with SHA-1 allowed. Pure.

    packagecloud's keys bind their own names and subkeys with SHA-1, which Debian 13's apt refuses since
    2026-02-01. This key is recognized by its SHA-256 (see `check_key`), whatever it says of itself. The
    policy applies only to the single run of apt that reads FD.io's list and nothing else.
    """
    lines = [line for line in policy.splitlines() if not line.startswith("sha1")]
    if _HASHES not in lines:
        lines.append(_HASHES)
    place = lines.index(_HASHES) + 1
    lines[place:place] = _SHA1_TAKEN
    return "".join(f"{line}\n" for line in lines)


def install_vpp(root: Path, source: VppSource, sources: AptSources) -> str | None:
    """Install VPP into `root` and return its version; None where the source is `none`.

    Raises SourceUnavailable when the packages are not available or cannot be installed.
    """
    if source.kind == "none":
        return None
    with step(f"VPP packages ({source.folder or 'FD.io release repository'})"):
        try:
            if source.folder is not None:
                _install_from_folder(root, source.folder, sources)
            else:
                _install_from_fdio(root, source, sources)
        except CommandFailed as error:
            raise SourceUnavailable(
                "VPP could not be installed (use VPP_SOURCE=dir:PATH with its packages, or VPP_SOURCE=none "
                f"for an image without VPP): {error}"
            ) from error
        _forget_sysctl(root)
        return run_in(root, ["dpkg-query", "-W", "-f", "${Version}", "vpp"]).strip()


def check_packages(paths: Sequence[Path], digests: Path = DIGESTS) -> bool:
    """Whether every package is the one whose digest the repository has; False where it has none.

    Raises SourceUnavailable for one that has another digest, or none in the file.
    """
    if not digests.exists():
        return False
    known: dict[str, str] = {}
    for line in digests.read_text().splitlines():
        if line:
            digest, name = line.split(maxsplit=1)
            known[name] = digest
    for path in paths:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if known.get(path.name) != found:
            wanted = known.get(path.name, "no digest")
            raise SourceUnavailable(
                f"VPP_SOURCE: {path.name} has the SHA-256 {found}, and {digests.name} has {wanted}: it is "
                "not the package that this release was made with"
            )
    return True


def say_whose_word(pinned: bool, word: str) -> None:
    """Say whether VPP's packages are known by their digests, or else by whose word they are VPP's."""
    if pinned:
        say(f"VPP's packages have the digests of {DIGESTS.name}")
    else:
        say(f"NOTE: VPP's packages are not pinned by digest ({DIGESTS.name} is absent): {word}")


def _install_from_folder(root: Path, folder: Path, sources: AptSources) -> None:
    # Packages of one's own need not be FD.io's: they are not compared, and the build says so.
    say_whose_word(pinned=False, word=f"they are those of {folder}, by the word of who gave VPP_SOURCE")
    names = [f"/mnt/vpp/{path.name}" for path in packages_in(folder)]
    _apt(root, ["install", *names], sources, {folder: "/mnt/vpp"})
    (root / "mnt/vpp").rmdir()


def check_key(key: bytes, wanted_sha256: str, known: Path) -> None:
    """Raise SourceUnavailable when `key` is not the one that the builder expects.

    The expected digest is `wanted_sha256`, or where that is empty that of the first build's key, which is
    kept in the file `known`.
    """
    found = hashlib.sha256(key).hexdigest()
    if wanted_sha256:
        if found != wanted_sha256.lower():
            raise SourceUnavailable(
                f"FDIO_KEY_SHA256: FD.io's repository has the key {found}, not {wanted_sha256}"
            )
    elif known.exists():
        before = known.read_text().strip()
        if found != before:
            raise SourceUnavailable(
                f"VPP_SOURCE: FD.io's repository has the key {found}, where earlier builds found {before}; "
                f"if FD.io announced a new one, give its digest as FDIO_KEY_SHA256 or delete {known}"
            )


def remember_key(key: bytes, known: Path = KNOWN_KEY) -> None:
    """Have later builds expect `key`, where none is known yet."""
    if known.exists():
        return
    digest = hashlib.sha256(key).hexdigest()
    known.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    known.write_text(f"{digest}\n")
    say(f"FD.io's key has the SHA-256 {digest}; later builds expect the same")


def fetch_fdio_key(source: VppSource, known: Path = KNOWN_KEY) -> bytes:
    """The public key of FD.io's repository, over TLS, and checked: see `check_key`.

    Raises SourceUnavailable.
    """
    fetch = ["curl", "-fsSL", "--proto", "=https", "--connect-timeout", "15", "--max-time", "60"]
    try:
        key = run([*fetch, f"{_FDIO_REPOSITORY}/gpgkey"], timeout_s=240).encode()
    except CommandFailed as error:
        raise SourceUnavailable(
            "VPP_SOURCE: FD.io's repository cannot be reached; use dir:PATH with its packages, or none for "
            f"an image without VPP: {error}"
        ) from error
    check_key(key, source.key_sha256, known)
    return key


def _install_from_fdio(root: Path, source: VppSource, sources: AptSources) -> None:
    key, place = fetch_fdio_key(source), root / "etc/apt/keyrings/fdio.asc"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(key)
    authorities = {Path("/etc/ssl/certs/ca-certificates.crt"): "/etc/ssl/certs/ca-certificates.crt"}
    update = ["update", "-o", "APT::Update::Error-Mode=any"]
    # Debian's lists by Debian's policy, before another one applies.
    _apt(root, update, sources, authorities)
    listed = root / "etc/apt/sources.list.d/fdio.sources"
    listed.write_text(
        f"Types: deb\nURIs: {_FDIO_REPOSITORY}/debian/\nSuites: {_FDIO_SUITE}\nComponents: main\n"
        "Signed-By: /etc/apt/keyrings/fdio.asc\n"
    )
    only = [f"Dir::Etc::sourcelist=/{listed.relative_to(root)}", "Dir::Etc::sourceparts=-"]
    only.append("APT::Get::List-Cleanup=0")
    with _sha1_taken(root) as environment:
        words = [*update, *(word for option in only for word in ("-o", option))]
        _apt(root, words, sources, authorities, environment)
    # Only now is it known to be the repository's key, whatever else answered under its address.
    remember_key(key)
    versions = [f"{name}={RELEASE}" for name in (*WANTED, *OPTIONAL[:1])]
    _apt(root, ["install", "--download-only", *versions], sources, authorities)
    archives = root / "var/cache/apt/archives"
    say_whose_word(
        check_packages(packages_in(archives)),
        f"they are version {RELEASE} by the word of FD.io's repository, whose key "
        + ("FDIO_KEY_SHA256 names" if source.key_sha256 else "the first build on this machine trusted"),
    )
    _apt(root, ["install", *versions], sources, authorities)


def _forget_sysctl(root: Path) -> None:
    """Their settings reserve 1,024 huge pages, which a router with 2 GiB cannot survive."""
    settings = root / "etc/sysctl.d/80-vpp.conf"
    if settings.exists():
        kept = [line for line in settings.read_text().splitlines() if not re.match(r"\s*(vm|kernel)\.", line)]
        settings.write_text(
            "\n".join(["# Huge pages are reserved at boot, by the machine's size.", *kept]) + "\n"
        )
