"""The appliance's own files, accounts and enabled units in the root tree."""

import json
import shutil
from pathlib import Path

from packer.image.command import run, run_in
from packer.image.progress import step
from packer.image.settings import BuildSettings

RELEASE_FILE = "usr/lib/millrace/release.json"


def copy_overlay(overlay: Path, root: Path) -> None:
    """Copy the tree `overlay` over `root`: owner root, folders 0755, files 0644, or 0755 where executable."""
    for source in sorted(overlay.rglob("*")):
        if "__pycache__" in source.parts:
            continue
        target = root / source.relative_to(overlay)
        if source.is_symlink():
            target.unlink(missing_ok=True)
            target.symlink_to(source.readlink())
        elif source.is_dir():
            target.mkdir(mode=0o755, parents=True, exist_ok=True)
        else:
            if target.is_symlink():
                target.unlink()
            shutil.copyfile(source, target)
            target.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)


def install_overlay(repository: Path, root: Path, source_date_epoch_s: int) -> None:
    """Copy appliance/system, make its accounts and enable exactly the units of its preset file."""
    with step("system files and units"):
        copy_overlay(repository / "appliance/system", root)
        # /etc/shadow records the day of the last password change; both programs take that day from here.
        epoch = {"SOURCE_DATE_EPOCH": str(source_date_epoch_s)}
        run_in(root, ["systemd-sysusers"], environment=epoch)
        _give_admin_account(root, epoch)
        run_in(root, ["systemctl", "preset-all"])
        # Disabling a template deletes the masks of its instances, such as getty@tty1: they are restored.
        copy_overlay(repository / "appliance/system", root)


def _give_admin_account(root: Path, epoch: dict[str, str]) -> None:
    """`admin` exists, may use sudo, and cannot log in until the first boot gives it a password or a key."""
    if not any(line.startswith("admin:") for line in (root / "etc/passwd").read_text().splitlines()):
        home = ["--home-dir", "/home/admin", "--no-create-home", "--shell", "/bin/bash"]
        run_in(root, ["useradd", "--uid", "1000", "--user-group", *home, "admin"], environment=epoch)
    run_in(root, ["usermod", "--append", "--groups", "sudo", "--lock", "admin"], environment=epoch)
    run_in(root, ["usermod", "--lock", "root"], environment=epoch)


def release(settings: BuildSettings, root: Path, vpp_version: str | None) -> dict[str, str | int | None]:
    """The image's description of itself."""
    debian = (root / "etc/debian_version").read_text().strip()
    return {
        "version": settings.version,
        "commit": settings.commit,
        "built_s": settings.source_date_epoch_s,
        "dataplane": settings.vpp.dataplane,
        "vpp_version": vpp_version,
        "debian": debian,
    }


def write_release(settings: BuildSettings, root: Path, vpp_version: str | None) -> None:
    """Write release.json and os-release's fields that name the product."""
    place = root / RELEASE_FILE
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(release(settings, root, vpp_version), indent=2, sort_keys=True) + "\n")
    os_release = root / "usr/lib/os-release"
    lines = [
        line
        for line in os_release.read_text().splitlines()
        if not line.startswith(("PRETTY_NAME=", "IMAGE_ID=", "IMAGE_VERSION="))
    ]
    lines += [
        f'PRETTY_NAME="Millrace {settings.version}"',
        "IMAGE_ID=millrace",
        f"IMAGE_VERSION={settings.version}",
    ]
    os_release.write_text("\n".join(lines) + "\n")


def install_upgrade_key(repository: Path, root: Path) -> Path:
    """Put the builder's public key into the image, making the pair if needed; returns the private key.

    The private key is kept outside the repository's history, mode 0600.
    """
    key = repository / ".keys/upgrade.pem"
    key.parent.mkdir(mode=0o700, exist_ok=True)
    public = root / "usr/lib/millrace/upgrade.pub"
    python = repository / ".venv/bin/python"
    run([python, "-m", "appliance.upgrade.make", "--new-key", key, "--public", public], cwd=repository)
    public.chmod(0o644)
    return key
