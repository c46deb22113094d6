"""The appliance's Python code: a virtual environment at /usr/lib/millrace/venv, hash-locked and compiled."""

import hashlib
import json
import shutil
from pathlib import Path

from packer.image.command import run, run_in
from packer.image.errors import BuildError
from packer.image.progress import step

VENV = "/usr/lib/millrace/venv"
STATIC = "/usr/lib/millrace/static"
MEMBERS = ("appliance", "webui", "frr", "vpp-config")
# The Python of Debian 13, whatever the builder's own version.
PYTHON_VERSION = "3.13"
_PLATFORMS = (
    *(f"manylinux_2_{minor}_x86_64" for minor in range(41, 4, -1)),
    *("manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64", "linux_x86_64"),
)


def download_wheels(repository: Path, wheels: Path) -> None:
    """Fetch the wheels of requirements/runtime.txt for the image's Python; pip is configured with the
    builder's mirror.

    Every file is checked against its hash, and again when it is installed. Nothing is fetched while the
    requirements are unchanged since the last time. Raises CommandFailed when a wheel is not available.
    """
    requirements = repository / "requirements/runtime.txt"
    stamp = wheels / "requirements.sha256"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    if wheels.exists():
        shutil.rmtree(wheels)
    wheels.mkdir(parents=True)
    argv: list[str | Path] = [
        repository / ".tools/uv/bin/pip",
        "download",
        "--quiet",
        "--no-deps",
        "--require-hashes",
    ]
    argv += ["--only-binary", ":all:", "--python-version", PYTHON_VERSION, "--implementation", "cp"]
    argv += ["--abi", "cp313", "--abi", "abi3", "--abi", "none"]
    for platform in _PLATFORMS:
        argv += ["--platform", platform]
    argv += ["--requirement", requirements, "--dest", wheels]
    run(argv, timeout_s=1200)
    stamp.write_text(digest)


def build_members(repository: Path, target: Path, source_date_epoch_s: int) -> None:
    """Build the workspace's members as wheels into `target`, from a copy, so that the checkout stays
    clean.
    """
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(parents=True)
    for member in MEMBERS:
        copy = target / "source" / member
        copy_member(repository / member, copy)
        run(
            [repository / ".venv/bin/python", "-m", "hatchling", "build", "-t", "wheel", "-d", target],
            cwd=copy,
            environment={"SOURCE_DATE_EPOCH": str(source_date_epoch_s), "PYTHONDONTWRITEBYTECODE": "1"},
        )
    shutil.rmtree(target / "source")


def copy_member(member: Path, target: Path) -> None:
    """Copy a member's code, without the results of earlier builds and without the system's own files next to
    it.

    Only next to it: a package within the code may have the same name.
    """
    made = shutil.ignore_patterns("__pycache__", "*.pyc", "*.egg-info")

    def ignored(folder: str, names: list[str]) -> set[str]:
        beside = {"build", "dist", "system"} if Path(folder) == member else set()
        return made(folder, names) | beside.intersection(names)

    shutil.copytree(member, target, ignore=ignored)


def install_code(repository: Path, root: Path, wheels: Path, members: Path) -> None:
    """Make the virtual environment in `root` from the wheels, offline, and the commands that use it."""
    with step("Python code"):
        uv = (repository / ".tools/bin/uv").resolve()
        if not uv.exists():
            raise BuildError("uv is not installed: run `make environment`")
        python = f"{VENV}/bin/python"
        inside = {wheels: "/mnt/wheels", members: "/mnt/members", uv: "/mnt/uv"}
        inside[repository / "requirements/runtime.txt"] = "/mnt/runtime.txt"
        install = ["/mnt/uv", "pip", "install", "--quiet", "--python", python, "--offline", "--no-index"]
        install += ["--no-cache", "--no-build", "--link-mode", "copy"]
        run_in(root, ["python3", "-m", "venv", "--without-pip", VENV])
        run_in(
            root,
            [*install, "--find-links", "/mnt/wheels", "--require-hashes", "-r", "/mnt/runtime.txt"],
            binds=inside,
        )
        names = sorted(f"/mnt/members/{path.name}" for path in members.glob("*.whl"))
        run_in(root, [*install, "--no-deps", *names], binds=inside)
        _tidy(root)
        for command, place in (("millrace", "usr/bin/millrace"), ("applianced", "usr/sbin/applianced")):
            link = root / place
            link.unlink(missing_ok=True)
            link.symlink_to(f"{VENV}/bin/{command}")
        for path in (root / "mnt").iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def collect_static_files(root: Path) -> None:
    """Put the pages' static files into the folder from which the web half serves them, hashed and compressed.

    They belong to the slot: after a power loss at any moment a router has them complete, and its boot is
    shorter.
    """
    with step("static files"):
        static = root / STATIC.lstrip("/")
        static.mkdir(parents=True)
        run_in(
            root,
            [f"{VENV}/bin/python", "-m", "webui", "collectstatic", "--noinput", "--verbosity", "0"],
            environment={"MILLRACE_STATIC_DIR": STATIC, "PYTHONDONTWRITEBYTECODE": "1"},
        )
        # Its order is that of the directories on the builder's disk.
        manifest = static / "staticfiles.json"
        manifest.write_text(json.dumps(json.loads(manifest.read_text()), sort_keys=True))
        static.chmod(0o755)
        for path in static.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)


def compile_code(root: Path, source_date_epoch_s: int) -> None:
    """Compile every Python file of the tree: on a read-only system, an uncompiled file is compiled at each
    start.

    The compiled files refer to their source by hash and are not checked: clamped file times would make them
    stale.
    """
    with step("compiling Python"):
        folders = [f"/usr/lib/python{PYTHON_VERSION}", "/usr/lib/python3/dist-packages", VENV]
        run_in(
            root,
            [
                "python3",
                "-m",
                "compileall",
                "-q",
                "-f",
                "-j",
                "2",
                "--invalidation-mode",
                "unchecked-hash",
                *folders,
            ],
            environment={"PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": str(source_date_epoch_s)},
        )


def forget(path: Path) -> None:
    """Delete the file `path` of a `*.dist-info` folder, and its line in the distribution's list of files.

    The installer's own record contains times, and the list has its hash.
    """
    path.unlink()
    listed = path.with_name("RECORD")
    ours = f"{path.parent.name}/{path.name},"
    kept = [line for line in listed.read_text().splitlines(keepends=True) if not line.startswith(ours)]
    listed.write_text("".join(kept))


def _tidy(root: Path) -> None:
    packages = root / VENV.lstrip("/") / f"lib/python{PYTHON_VERSION}/site-packages"
    for record in ("direct_url.json", "uv_cache.json"):
        for path in packages.glob(f"*.dist-info/{record}"):
            forget(path)
    for path in sorted(packages.rglob("tests")):
        if path.is_dir() and path.parent.name not in ("django",):
            shutil.rmtree(path)
