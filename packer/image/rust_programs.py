"""The Rust programs in the image, built here with the builder's compiler."""

import shutil
from pathlib import Path

from lab import rust_program
from lab.errors import MissingProgram
from packer.image.errors import BuildError

FOLDER = Path("usr/lib/millrace")


def install_rust_program(name: rust_program.Name, root: Path, cache: Path) -> None:
    """Build it, unless `cache` has one built from these sources, and put it into `root`. Raises
    BuildError.
    """
    try:
        built = rust_program.build(name, cache)
    except MissingProgram as error:
        raise BuildError(str(error)) from None
    target = root / FOLDER / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(built, target)
    target.chmod(0o755)
