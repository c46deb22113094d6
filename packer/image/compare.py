"""`python -m packer.image.compare`: builds the image twice and lists every difference, file by file."""

import filecmp
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from packer.image.errors import BuildError
from packer.image.progress import say, step
from packer.image.removal import remove_tree
from packer.image.settings import BuildSettings, read_settings
from packer.image.stages import STAGES

# Without `tidy`, because the trees are compared.
_BUILT = ("check", "tools", "base", "vpp", "code", "system", "disk", "ova", "sums")


def _entries(root: Path) -> dict[str, os.stat_result]:
    found = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder) / name
            found[str(path.relative_to(root))] = path.lstat()
    return found


def _differs(first: Path, second: Path, before: os.stat_result, after: os.stat_result) -> str:
    for what, one, two in (
        ("mode", before.st_mode, after.st_mode),
        ("owner", (before.st_uid, before.st_gid), (after.st_uid, after.st_gid)),
        ("time", before.st_mtime_ns, after.st_mtime_ns),
    ):
        if one != two:
            return what
    if stat.S_ISLNK(before.st_mode):
        return "" if first.readlink() == second.readlink() else "target"
    if stat.S_ISREG(before.st_mode) and not filecmp.cmp(first, second, shallow=False):
        return "content"
    return ""


def differences(first: Path, second: Path) -> Iterator[str]:
    """One line for each path that differs between the two trees: mode, owner, time, target or content."""
    before, after = _entries(first), _entries(second)
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            yield f"{name}: only in the {'first' if name in before else 'second'}"
        elif what := _differs(first / name, second / name, before[name], after[name]):
            yield f"{name}: {what}"


def _build(settings: BuildSettings) -> None:
    for folder in (settings.work, settings.dist):
        remove_tree(folder)
    for name in _BUILT:
        STAGES[name](settings)


def main() -> int:
    """Build twice; 0 when the artefacts of both builds have the same bytes, 1 when not."""
    try:
        settings = read_settings(os.environ)
        kept = []
        for number in ("first", "second"):
            with step(f"{number} build"):
                # The same folder for both: a path that ends up in an artefact must not differ because of this
                # comparison.
                one = replace(settings, work=settings.work / "build", dist=settings.work / "dist")
                _build(one)
                remove_tree(settings.work / number)
                (settings.work / number).mkdir()
                (one.work / "root").rename(settings.work / number / "root")
                one.dist.rename(settings.work / number / "dist")
                kept.append(settings.work / number)
        found = [
            f"{part}: {line}" for part in ("root", "dist") for line in differences(*(k / part for k in kept))
        ]
    except BuildError as error:
        print(f"millrace image: {error}", file=sys.stderr)
        return 1
    artefacts = [line for line in found if not line.endswith(": time") or not line.startswith("dist: ")]
    for line in artefacts:
        say(line)
    say(f"{len(artefacts)} differences" if artefacts else "two builds, the same bytes")
    return 1 if artefacts else 0


if __name__ == "__main__":
    sys.exit(main())
