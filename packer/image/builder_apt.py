"""The package mirror from which the image is built: that of the builder's own apt, for Debian 13."""

import re
from dataclasses import dataclass
from pathlib import Path

from packer.image.command import run
from packer.image.errors import SourceUnavailable

SUITE = "trixie"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

# Settings of the builder's apt about reaching a mirror, not about what to install.
_FORWARDED = re.compile(
    r'^(Acquire::(?:https?::[^ ]+|Retries|Check-Valid-Until|Check-Date|Max-ValidTime)) "([^"]*)";$'
)
_SNAPSHOT = re.compile(r"/[0-9]{8}T[0-9]{6}Z(/|$)")


@dataclass(frozen=True)
class AptSources:
    """The sources of Debian's packages: lines of sources.list, and apt options as `Name "value";`."""

    lines: tuple[str, ...]
    options: tuple[str, ...]


def parse_index_targets(text: str) -> tuple[str, str]:
    """The base URIs (Debian, Debian-Security) in the output of `apt-get indextargets`.

    Each line of `text` is `uri|codename|label`. Raises SourceUnavailable when apt knows no Debian archive.
    The security URI is empty when the builder has none.
    """
    debian = security = ""
    for line in text.splitlines():
        uri, codename, label = (*line.split("|"), "", "")[:3]
        if label == "Debian" and "-" not in codename:
            debian = debian or uri
        elif label == "Debian-Security":
            security = security or uri
    if not debian:
        raise SourceUnavailable(
            "this machine's apt knows no Debian archive: add one to its sources and run apt-get update, "
            "or give DEBIAN_MIRROR"
        )
    return debian, security


def forwarded_options(apt_config: str) -> tuple[str, ...]:
    """The lines of `apt-config dump` about reaching mirrors (proxies, validity, retries)."""
    found = (_FORWARDED.match(line) for line in apt_config.splitlines())
    return tuple(f'{match[1]} "{match[2]}";' for match in found if match and match[2])


def source_lines(debian: str, security: str) -> tuple[str, ...]:
    """The lines of sources.list for these archives; without a security archive where that is empty.

    A snapshot (its URI contains its date) is accepted at any age: its lists are signed but have expired.
    """
    archives = [(debian, SUITE), (debian, f"{SUITE}-updates")]
    if security:
        archives.append((security, f"{SUITE}-security"))
    return tuple(
        f"deb {'[check-valid-until=no] ' if _SNAPSHOT.search(uri) else ''}{uri} {suite} main"
        for uri, suite in archives
    )


def sources(mirror: str = "", security_mirror: str = "") -> AptSources:
    """The sources for Debian 13: `mirror` and `security_mirror` where given, otherwise the builder's own.

    A snapshot archive is given as these two URIs. Raises SourceUnavailable.
    """
    if mirror:
        debian, security = mirror, security_mirror
    else:
        fields = "$(REPO_URI)|$(CODENAME)|$(LABEL)"
        debian, security = parse_index_targets(
            run(["apt-get", "indextargets", "--format", fields, "Created-By: Packages"])
        )
        security = security_mirror or security
    if not KEYRING.exists():
        raise SourceUnavailable(f"{KEYRING} is missing: install debian-archive-keyring")
    return AptSources(source_lines(debian, security), forwarded_options(run(["apt-config", "dump"])))
