"""mmdebstrap: a tree of Debian 13 packages, without maintainer prompts and without recommended packages."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from packer.image.builder_apt import KEYRING, SUITE, AptSources
from packer.image.command import run
from packer.image.errors import CommandFailed, SourceUnavailable


def bootstrap(
    target: Path,
    packages: Sequence[str],
    sources: AptSources,
    *,
    hooks: Sequence[str] = (),
    options: Sequence[str] = (),
    variant: str = "minbase",
    work: Path,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Install `packages` and their dependencies into `target`: a folder, or a file `*.tar`.

    `hooks` are mmdebstrap arguments, `variant` is mmdebstrap's own: `extract` unpacks without installing.
    `work` holds temporary files; on tmpfs it is four times faster. Raises SourceUnavailable when a package is
    not available.
    """
    work.mkdir(parents=True, exist_ok=True)
    argv = [
        # mmdebstrap mounts the builder's /dev, /proc and /sys into the tree. In a mount namespace of its own
        # they cannot outlive it; a killed one would otherwise leave them to anyone who then deletes the tree.
        *("unshare", "--mount", "--propagation", "private", "--"),
        "mmdebstrap",
        "--mode=root",
        f"--variant={variant}",
        f"--keyring={KEYRING}",
        "--include=" + ",".join(["ca-certificates", *packages]),
        *(f"--aptopt={option}" for option in sources.options),
        *hooks,
        *options,
        SUITE,
        str(target),
        *sources.lines,
    ]
    try:
        run(argv, timeout_s=1800, environment={"TMPDIR": str(work), **(environment or {})})
    except CommandFailed as error:
        raise SourceUnavailable(f"Debian packages could not be installed: {error}") from error
