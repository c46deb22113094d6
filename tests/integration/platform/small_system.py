"""The appliance's units, started by a systemd of a test's own, with a probe in place of their programs."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
TREE = _HERE.parents[2] / "appliance/system"
_DROPPED = re.compile(
    r"^(Exec\w*|Type|Condition\w*|Requires\w*|Wants|After|Before|Conflicts|Watchdog\w*|PIDFile|NotifyAccess"
    r"|EnvironmentFile|Restart\w*|OnFailure|JoinsNamespaceOf|StartLimit\w*|Standard\w*|Slice|WantedBy"
    r"|Load\w*|Nice|OOM\w*|Memory\w*|CPU\w*|StartupCPU\w*|LimitMEMLOCK|WorkingDirectory|TTY\w*)=.*\n",
    re.MULTILINE,
)
"""What says when a unit starts and with how much: everything else is its sandbox."""
_LIMIT_S = 60.0


def cgroup_mount() -> Path | None:
    """Where the unified hierarchy of control groups is mounted; None where it is not."""
    for line in Path("/proc/mounts").read_text().splitlines():
        if line.split()[2] == "cgroup2":
            return Path(line.split()[1])
    return None


def unit_file(name: str) -> Path:
    """A unit of ours."""
    return next(
        path
        for folder in ("etc/systemd/system", "usr/lib/systemd/system")
        if (path := TREE / folder / name).exists()
    )


def probe_unit(text: str, name: str) -> str:
    """The unit with the probe as its program, and nothing that it would wait for. Pure."""
    kept = _DROPPED.sub("", text).replace("[Install]\n", "")
    program = (
        f"[Service]\nType=oneshot\nExecStart=/usr/bin/python3 -I /etc/probe.py\n"
        f"StandardOutput=truncate:/out/{name}.json\nStandardError=truncate:/out/{name}.err\n"
        "RuntimeDirectoryPreserve=yes\n"
    )
    return f"{kept}\n[Unit]\nDefaultDependencies=no\n{program}"


def probe(folder: Path, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What a program of each unit can reach, by the unit's name. Raises AssertionError with systemd's log."""
    names = list(names)
    for part in ("units", "etc", "out"):
        (folder / part).mkdir()
    for name in names:
        (folder / "units" / name).write_text(probe_unit(unit_file(name).read_text(), name))
    wanted = " ".join(names)
    (folder / "units/probes.target").write_text(f"[Unit]\nDefaultDependencies=no\nWants={wanted}\n")
    _accounts(folder / "etc")
    for part in ("probe.py", "prepare.py"):
        shutil.copy(_HERE / part, folder / "etc" / part)
    mount = cgroup_mount()
    assert mount is not None
    group = mount / f"millrace-units-{os.getpid()}"
    group.mkdir()
    argv = ["unshare", "--pid", "--mount", "--net", "--ipc", "--uts", "--cgroup", "--fork", "--kill-child"]
    console, terminal = os.openpty()
    os.set_blocking(console, False)
    # The shell enters the group before its namespace makes that the root of all groups.
    enter = f'echo $$ > {group}/cgroup.procs && exec "$@"'
    start = ["sh", str(_HERE / "small_system.sh"), str(folder), os.ttyname(terminal)]
    process = subprocess.Popen(
        ["sh", "-c", enter, "sh", *argv, *start],
        stdout=terminal, stderr=terminal, stdin=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    said = b""
    try:
        deadline = time.monotonic() + _LIMIT_S
        while missing := [name for name in names if not _told(folder / "out" / f"{name}.json")]:
            with suppress(BlockingIOError):
                said += os.read(console, 65536)
            ended = process.poll() is not None or time.monotonic() > deadline
            assert not ended, (missing, said.decode(errors="replace")[-6000:])
            time.sleep(0.1)
        return {name: json.loads((folder / "out" / f"{name}.json").read_text()) for name in names}
    finally:
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        os.close(console)
        os.close(terminal)
        _remove(group)


def _told(path: Path) -> bool:
    return path.exists() and path.read_text().endswith("\n")


def _accounts(etc: Path) -> None:
    users, groups = [["root", "0", "0"]], {"root": "0"}
    for number, name in enumerate(("vpp", "millrace", "frr", "frrvty", "redis", "postgres", "www-data"), 900):
        groups[name] = str(number)
    for number, name in enumerate(
        ("millrace-web", "millrace-feeder", "millrace-index", "frr", "redis", "postgres", "admin", "nobody"),
        950,
    ):
        groups.setdefault(name, str(number))
        users.append([name, str(number), groups[name]])
    passwd = "".join(f"{name}:x:{uid}:{gid}::/nonexistent:/bin/false\n" for name, uid, gid in users)
    (etc / "passwd").write_text(passwd)
    (etc / "group").write_text("".join(f"{name}:x:{gid}:\n" for name, gid in groups.items()))
    (etc / "shadow").write_text("root:secret:1::::::\n")
    (etc / "shadow").chmod(0o640)
    (etc / "nsswitch.conf").write_text("passwd: files\ngroup: files\nshadow: files\n")
    (etc / "machine-id").write_text("0" * 31 + "1\n")
    (etc / "os-release").write_text("ID=probe\n")


def _remove(group: Path) -> None:
    deadline = time.monotonic() + 20
    for path in sorted([group, *(path for path in group.rglob("*") if path.is_dir())], reverse=True):
        while path.exists():
            with suppress(OSError):
                path.rmdir()
            if time.monotonic() > deadline:
                return
            time.sleep(0.05)
