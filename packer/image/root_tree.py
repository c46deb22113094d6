"""The root tree: Debian's base, VPP, the appliance's own files and code, reduced to what a router needs."""

import os
import shutil
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from packer.image.command import run, run_in
from packer.image.progress import step
from packer.image.removal import remove_tree

_INITRAMFS = Path(__file__).resolve().parents[1] / "initramfs"

# Programs that change the boot choice mount the ESP on demand; the initramfs mounts /data.
_ESP_OPTIONS = "umask=0077,noatime,sync,noauto,nofail,x-systemd.automount,x-systemd.device-timeout=600s"
_FSTAB = f"PARTLABEL=mr-esp /efi vfat {_ESP_OPTIONS} 0 0\n"

# Files that packages made during installation: they belong to an instance or to the build, never to an image.
_NOT_OF_AN_IMAGE = (
    "etc/ssh/ssh_host_*",
    "etc/ssl/private/ssl-cert-snakeoil.key",
    "etc/ssl/certs/ssl-cert-snakeoil.pem",
    "etc/machine-id",
    "etc/hostname",
    "etc/resolv.conf",
    "etc/*-",
    "etc/.pwd.lock",
    "etc/apt/sources.list",
    "etc/apt/sources.list.d/*",
    "etc/apt/keyrings/*",
    "etc/apt/apt.conf.d/99mmdebstrap",
    "etc/dpkg/dpkg.cfg.d/99mmdebstrap",
    "var/lib/apt/lists/*",
    "var/cache/*",
    "var/lib/systemd/random-seed",
    "var/lib/systemd/credential.secret",
    "var/lib/dbus/machine-id",
    "var/lib/ucf/*.[0-9]",
    "var/lib/dpkg/*-old",
    "tmp/*",
    "run/*",
    "root/.*",
)


def unpack(archive: Path, root: Path) -> None:
    """Unpack the base tree into `root`, which is emptied first."""
    with step("unpacking the base tree"):
        remove_tree(root)
        root.mkdir(parents=True, mode=0o755)
        run(["tar", "-x", "--numeric-owner", "--xattrs", "--xattrs-include=*", "-f", archive, "-C", root])


def pack(root: Path, archive: Path) -> None:
    """Write the tree `root` to the tar file `archive`, sorted by name, with capabilities."""
    archive.unlink(missing_ok=True)
    run(
        [
            *("tar", "-c", "--sort=name", "--numeric-owner", "--format=pax"),
            *("--pax-option=delete=atime,delete=ctime", "--xattrs", "--xattrs-include=security.*"),
            *("-f", archive, "-C", root, "."),
        ]
    )


def remove_matching(root: Path, patterns: Iterable[str]) -> None:
    """Delete all matches of `patterns` (globs relative to `root`); no error if there are none."""
    for pattern in patterns:
        folder, _, name = pattern.rpartition("/")
        folders = root.glob(folder) if folder else [root]
        # From the folder's listing, because glob() misses a dangling link that is named in full.
        matching = [path for found in folders for path in found.iterdir() if fnmatchcase(path.name, name)]
        for path in sorted(matching):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def kernel_version(root: Path) -> str:
    """The version of the only kernel in the tree, as `uname -r` will report it."""
    (modules,) = (root / "usr/lib/modules").iterdir()
    return modules.name


def write_system_files(root: Path) -> None:
    """Mount points, fstab and the links that make a read-only root with volatile /etc work."""
    for folder in ("data", "efi", "var/log/journal", "var/cache", "var/tmp"):
        (root / folder).mkdir(exist_ok=True, parents=True)
    (root / "var/tmp").chmod(0o1777)
    (root / "etc/fstab").write_text(_FSTAB)
    (root / "etc/hostname").write_text("millrace\n")
    (root / "etc/hosts").write_text(
        "127.0.0.1 localhost\n127.0.1.1 millrace\n::1 localhost ip6-localhost ip6-loopback\n"
    )
    (root / "etc/machine-id").write_text("uninitialized\n")
    # A file, not a link: initially no resolvers are configured.
    (root / "etc/resolv.conf").write_text("")
    # It offers ssh over AF_VSOCK, which the router does not provide, and logs an error at every boot.
    generators = root / "etc/systemd/system-generators"
    generators.mkdir(parents=True, exist_ok=True)
    _link(generators / "systemd-ssh-generator", "/dev/null")
    _link(root / "etc/mtab", "../proc/self/mounts")


def _link(path: Path, target: str) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def move_package_database(root: Path) -> None:
    """dpkg's database describes the slot, not the instance, so it moves under /usr, with a link in /var."""
    database, place = root / "var/lib/dpkg", root / "usr/lib/millrace/dpkg"
    if not database.is_symlink():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(database, place)
        database.symlink_to("/usr/lib/millrace/dpkg")


def make_initramfs(root: Path, source_date_epoch_s: int) -> None:
    """Write /boot/initrd.img, and the fixed names that GRUB looks for."""
    with step("initramfs"):
        settings = root / "etc/initramfs-tools"
        shutil.copytree(_INITRAMFS / "hooks", settings / "hooks", dirs_exist_ok=True)
        shutil.copytree(_INITRAMFS / "scripts", settings / "scripts", dirs_exist_ok=True)
        shutil.copyfile(_INITRAMFS / "modules", settings / "modules")
        shutil.copyfile(_INITRAMFS / "initramfs.conf", settings / "conf.d/millrace.conf")
        for path in (settings, *settings.rglob("*")):  # copied with the checkout's times, which mean nothing
            os.utime(path, (source_date_epoch_s, source_date_epoch_s), follow_symlinks=False)
        version = kernel_version(root)
        run_in(root, ["depmod", "-a", version])
        run_in(
            root,
            ["mkinitramfs", "-o", f"/boot/initrd.img-{version}", version],
            environment={"SOURCE_DATE_EPOCH": str(source_date_epoch_s)},
        )
        for link, target in (("vmlinuz", f"vmlinuz-{version}"), ("initrd.img", f"initrd.img-{version}")):
            for old in (root / link, root / f"{link}.old", root / "boot" / link):
                old.unlink(missing_ok=True)
            (root / "boot" / link).symlink_to(target)


def finish(root: Path, source_date_epoch_s: int) -> None:
    """Remove files that belong to no image, and limit every file's time to that of the commit."""
    with step("cleaning and fixing times"):
        remove_matching(root, _NOT_OF_AN_IMAGE)
        for path in (root / "var/log").rglob("*"):
            if not path.is_dir():  # the folders have owners that services rely on
                path.unlink()
        write_system_files(root)
        move_package_database(root)
        for state in ("etc/.updated", "var/.updated"):
            # States that /etc and /var match this /usr, so that no unit rebuilds caches at every boot.
            (root / state).write_text(f"TIMESTAMP_NSEC={source_date_epoch_s}000000000\n")
        _clamp_times(root, source_date_epoch_s)


def _clamp_times(root: Path, source_date_epoch_s: int) -> None:
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(folder, name)  # noqa: PTH118  (three times faster over 60,000 files)
            if os.lstat(path).st_mtime > source_date_epoch_s:
                os.utime(path, (source_date_epoch_s, source_date_epoch_s), follow_symlinks=False)
    os.utime(root, (source_date_epoch_s, source_date_epoch_s))
