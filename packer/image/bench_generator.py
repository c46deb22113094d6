"""The packet generator of `millrace bench` in the image: built here, with the builder's C compiler."""

import shutil
from pathlib import Path

from lab import memif_traffic
from lab.errors import MissingProgram
from packer.image.errors import BuildError

PROGRAM = Path("usr/lib/millrace/bench-generator")


def install_bench_generator(root: Path, cache: Path) -> None:
    """Build it, unless `cache` has one built from these sources, and put it into `root`. Raises
    BuildError.
    """
    try:
        built = memif_traffic.build(cache)
    except MissingProgram as error:
        raise BuildError(str(error)) from None
    target = root / PROGRAM
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(built, target)
    target.chmod(0o755)
