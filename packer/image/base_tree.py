"""The base tree: Debian's packages for the image, as one archive that later steps unpack."""

from pathlib import Path

from packer.image.bootstrap import bootstrap
from packer.image.builder_apt import AptSources
from packer.image.packages import IMAGE
from packer.image.progress import step

HOOKS = Path(__file__).resolve().parents[1] / "hooks"

# Licences stay; nobody reads a manual or a translation on a router.
_DPKG_OPTIONS = (
    "path-exclude=/usr/share/doc/*",
    "path-include=/usr/share/doc/*/copyright",
    "path-exclude=/usr/share/man/*",
    "path-exclude=/usr/share/info/*",
    "path-exclude=/usr/share/locale/*",
    "path-exclude=/usr/share/lintian/*",
    "force-confold",
    "force-unsafe-io",
)


def make_base(archive: Path, sources: AptSources, work: Path, source_date_epoch_s: int) -> None:
    """Write the base tree to the tar file `archive`. Raises SourceUnavailable."""
    with step(f"Debian packages ({len(IMAGE)} and what they depend on)"):
        archive.parent.mkdir(parents=True, exist_ok=True)
        bootstrap(
            archive,
            IMAGE,
            sources,
            hooks=[
                f"--essential-hook={HOOKS / 'accounts'}",
                f"--essential-hook={HOOKS / 'before-configure'}",
            ],
            options=[*(f"--dpkgopt={option}" for option in _DPKG_OPTIONS), "--skip=cleanup/apt/lists"],
            work=work,
            environment={"SOURCE_DATE_EPOCH": str(source_date_epoch_s)},
        )
