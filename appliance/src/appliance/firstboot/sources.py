"""Where a hypervisor puts seeds: discs, VMware's guestinfo, QEMU's fw_cfg, systemd's credentials."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from appliance.engine import durable
from appliance.errors import Problem, ValidationFailed
from appliance.firstboot import ovf
from appliance.programs import ProgramFailed, Programs, must

_NOCLOUD = ("user-data", "meta-data", "network-config")
_CONFIG_DRIVE = ("meta_data.json", "network_data.json", "user_data")
_CONFIG_DRIVE_FOLDER = Path("openstack/latest")
_OVF_FILE = "ovf-env.xml"
_DISC_TYPES = frozenset(["iso9660", "udf", "vfat"])
_NO_DISCS = ("loop", "ram", "zram", "dm-", "md", "nbd", "fd")
_FW_CFG = Path("sys/firmware/qemu_fw_cfg/by_name/opt/millrace")
_CREDENTIAL = Path("run/credentials/@system/millrace.seed")
_DMI_VENDOR = Path("sys/class/dmi/id/sys_vendor")


@dataclass(frozen=True)
class Found:
    """The content of one source: named values still to be checked, or its problem."""

    source: str
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    remarks: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def find(programs: Programs, root: Path = Path("/")) -> list[Found]:
    """Every source that holds a seed, in order of precedence: the first one wins.

    Discs come first (NoCloud, ConfigDrive, OVF environment), then VMware's guestinfo, fw_cfg and credentials.
    A source that cannot be read is returned with a problem, so that it is reported instead of silently
    ignored.
    """
    order = ("NoCloud", "ConfigDrive", "OVF environment")
    discs = sorted(_discs(programs, root), key=lambda found: order.index(found.source.split(" (")[0]))
    return [*discs, *_guestinfo(programs, root), *_fw_cfg(root), *_credential(root)]


def _discs(programs: Programs, root: Path) -> Iterator[Found]:
    block = root / "sys/class/block"
    names = sorted(path.name for path in block.iterdir()) if block.is_dir() else []
    for name in names:
        if name.startswith(_NO_DISCS):
            continue
        device = f"/dev/{name}"
        # -p probes the device itself, not a cache; a missing medium is no error.
        about = _probe(programs, device)
        if about.get("TYPE") not in _DISC_TYPES:
            continue
        label = about.get("LABEL", about.get("LABEL_FATBOOT", "")).lower()
        if label not in ("cidata", "config-2") and about["TYPE"] == "vfat":
            continue
        with _mounted(programs, device, about["TYPE"], root / "run/millrace/seed") as place:
            if isinstance(place, ProgramFailed):
                if label in ("cidata", "config-2"):
                    yield Found(f"{_kind(label)} ({device})", problems=(Problem("", str(place)),))
                continue
            yield from _on_disc(device, label, place)


def _kind(label: str) -> str:
    return "NoCloud" if label == "cidata" else "ConfigDrive"


def _probe(programs: Programs, device: str) -> dict[str, str]:
    try:
        done = programs.run(["blkid", "-p", "-o", "export", device], timeout_s=20)
    except ProgramFailed:
        return {}
    pairs = (line.partition("=") for line in done.output.splitlines())
    return {key: value.replace("\\ ", " ") for key, _, value in pairs}


@contextmanager
def _mounted(programs: Programs, device: str, kind: str, place: Path) -> Iterator[Path | ProgramFailed]:
    durable.make_folder(place, 0o700)
    try:
        must(programs, ["mount", "-t", kind, "-o", "ro,nosuid,nodev,noexec", "--", device, str(place)])
    except ProgramFailed as error:
        yield error
        return
    try:
        yield place
    finally:
        # The mount is this service's alone and goes with it.
        with suppress(ProgramFailed):
            must(programs, ["umount", "--", str(place)])


def _on_disc(device: str, label: str, place: Path) -> Iterator[Found]:
    # Loaded where there is a seed: a boot without one does not wait for a YAML reader.
    from appliance.firstboot import cloud_init

    if label == "cidata":
        yield _read(f"NoCloud ({device})", lambda: cloud_init.nocloud(_files(place, _NOCLOUD)))
    elif label == "config-2":
        folder = place / _CONFIG_DRIVE_FOLDER
        yield _read(f"ConfigDrive ({device})", lambda: cloud_init.config_drive(_files(folder, _CONFIG_DRIVE)))
    else:
        source = f"OVF environment ({device})"
        try:
            found = _files(place, (_OVF_FILE,))
        except ValidationFailed as failed:
            yield Found(source, problems=failed.problems)
            return
        if _OVF_FILE in found:
            yield _read(source, lambda: (ovf.properties(found[_OVF_FILE]), []))


def _guestinfo(programs: Programs, root: Path) -> Iterator[Found]:
    try:
        vendor = (root / _DMI_VENDOR).read_text()
    except OSError:
        return
    # Elsewhere the tool would try a port that is not there.
    if "VMware" not in vendor:
        return
    try:
        done = programs.run(["vmtoolsd", "--cmd", "info-get guestinfo.ovfEnv"], timeout_s=20)
    except ProgramFailed as error:
        yield Found("OVF environment (guestinfo)", problems=(Problem("", str(error)),))
        return
    if done.code == 0 and done.output.strip():
        text = done.output.encode("utf-8", "replace")
        yield _read("OVF environment (guestinfo)", lambda: (ovf.properties(text), []))


def _fw_cfg(root: Path) -> Iterator[Found]:
    folder = root / _FW_CFG
    if not folder.is_dir():
        return

    def _values() -> tuple[dict[str, Any], list[str]]:
        from appliance.firstboot import cloud_init

        given: dict[str, Any] = {}
        whole: dict[str, Any] = {"instance_id": "fw_cfg"}
        for entry in sorted(folder.iterdir()):
            data = _content(entry / "raw")
            if data is None:
                continue
            if entry.name == "seed":
                whole |= cloud_init.own_form(data, "fw_cfg")
            else:
                given[entry.name] = data.decode("utf-8", "replace").strip("\r\n\x00 ")
        return whole | given, []

    yield _read("fw_cfg", _values)


def _credential(root: Path) -> Iterator[Found]:
    data = _content(root / _CREDENTIAL)
    if data is not None:
        from appliance.firstboot import cloud_init

        yield _read("credential", lambda: (cloud_init.own_form(data, "credential"), []))


def _read(source: str, read: Callable[[], tuple[dict[str, Any], list[str]]]) -> Found:
    try:
        values, remarks = read()
    except ValidationFailed as failed:
        return Found(source, problems=failed.problems)
    except Exception as error:  # whatever a seed is made of, the boot goes on
        # Only its type: the message may contain a value, and so a password.
        return Found(source, problems=(Problem("", f"cannot be understood ({type(error).__name__})"),))
    return Found(source, values, tuple(remarks))


def _files(folder: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    contents = ((name, _content(folder / name)) for name in names)
    return {name: data for name, data in contents if data is not None}


def _content(path: Path) -> bytes | None:
    """A regular file's content; None if there is none. A link out of a disc is not followed.

    Raises ValidationFailed for one that is too large or cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ValidationFailed([Problem(f"/{path.name}", f"cannot be read: {error.strerror}")]) from None
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise ValidationFailed([Problem(f"/{path.name}", "is not a file")])
        try:
            data = stream.read(ovf.MAX_BYTES + 1)
        except OSError as error:
            raise ValidationFailed([Problem(f"/{path.name}", f"cannot be read: {error.strerror}")]) from None
    if len(data) > ovf.MAX_BYTES:
        raise ValidationFailed(
            [Problem(f"/{path.name}", f"is larger than {ovf.MAX_BYTES // 1024 // 1024} MB")]
        )
    return data
