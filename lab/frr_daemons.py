"""FRR's daemons in the router's namespace: directories, command lines, output.

They start with an empty configuration: the agent provides all of it. The path space (`-N`) separates them
from the machine's own FRR and from other labs.
"""

import grp
import json
import os
import pwd
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from frr_config import V10_3, required_daemons
from lab import bgp_index
from lab.command import run
from lab.errors import MissingProgram
from lab.namespaces import Dataplane

LIBEXEC = Path("/usr/lib/frr")
_RUN_DIR = Path("/var/run/frr")
_CONFIG_DIR = Path("/etc/frr")
_LIB_DIR = Path("/var/lib/frr")
_SCRATCH_DIR = Path("/var/tmp/frr")
USER = "frr"
"""Who the daemons become."""
_GROUP, _VTY_GROUP = "frr", "frrvty"

DAEMONS = required_daemons(V10_3)
"""The daemons of all releases; those that an older release lacks are not on this machine."""
_NETLINK_BUFFER_BYTES = 134_217_728
_KEEP_ROUTES_S = 60


def vty_dir(path_space: str) -> Path:
    """The directory of the daemons' vty sockets."""
    return _RUN_DIR / path_space


def config_dir(path_space: str) -> Path:
    """The directory in which vtysh looks for its configuration."""
    return _CONFIG_DIR / path_space


def daemons() -> tuple[str, ...]:
    """The daemons this machine's FRR has, in starting order. Raises MissingProgram where there is no FRR."""
    if not (LIBEXEC / "zebra").exists():
        raise MissingProgram("FRRouting is not installed (Debian package frr)")
    return tuple(name for name in DAEMONS if (LIBEXEC / name).exists())


def argv(daemon: str, path_space: str, dataplane: Dataplane) -> list[str]:
    """The command that runs one daemon in the foreground; the daemon itself changes to user frr."""
    command = [str(LIBEXEC / daemon), "-N", path_space, "--log", "stdout", "--log-level", "informational"]
    command += ["-A", "127.0.0.1", "-P", "0"]  # no vty on TCP
    if daemon == "bgpd" and bgp_index.lacking() is None:
        command += ["-M", bgp_index.MODULE]
    if daemon == "zebra":
        # Routes that a dead zebra left stay until the new one knows which are still wanted.
        command += ["-K", str(_KEEP_ROUTES_S)]
        if dataplane == "vpp":
            command += ["-s", str(_NETLINK_BUFFER_BYTES), "-M", "dplane_fpm_nl"]
    return command


def directories(path_space: str) -> tuple[Path, ...]:
    """The directories that belong to this path space alone."""
    parents = (_RUN_DIR, _CONFIG_DIR, *((_LIB_DIR,) if _LIB_DIR.is_dir() else ()))
    return tuple(parent / path_space for parent in parents)


def stray_files() -> tuple[Path, ...]:
    """Files that a daemon writes outside its path space (ospfd 8.4 does), unless they existed before."""
    return tuple(path for path in (_RUN_DIR / "ospfd-gr.json",) if not path.exists())


def missing_parents() -> tuple[Path, ...]:
    """FRR's own directories that do not exist yet (its run directory, where systemd did not start it)."""
    return tuple(path for path in (_RUN_DIR, _SCRATCH_DIR) if not path.is_dir())


def scratch(started: Iterable[tuple[str, int]]) -> tuple[Path, ...]:
    """The remains of daemons that were killed, among these (name, process id)."""
    return tuple(_SCRATCH_DIR / f"{name}.{pid}" for name, pid in started if name in DAEMONS)


def make_directories(path_space: str) -> None:
    """Make the path space's directories: the one with configuration belongs to root, the others to FRR.

    Owners are set on descriptors, because a parent directory may belong to FRR, which could put a symbolic
    link there.
    """
    if not _RUN_DIR.is_dir():
        _RUN_DIR.mkdir(mode=0o755)
    configuration = config_dir(path_space)
    for path in directories(path_space):
        path.mkdir(mode=0o755, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if path == configuration:
                os.fchown(descriptor, 0, 0)
                _make_vtysh_settings(descriptor)
            else:
                os.fchown(descriptor, pwd.getpwnam(USER).pw_uid, grp.getgrnam(_GROUP).gr_gid)
        finally:
            os.close(descriptor)


def _make_vtysh_settings(folder: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with suppress(FileExistsError):
        descriptor = os.open("vtysh.conf", flags, 0o640, dir_fd=folder)
        with os.fdopen(descriptor, "w") as stream:
            stream.write("service integrated-vtysh-config\n")
            os.fchown(descriptor, 0, grp.getgrnam(_VTY_GROUP).gr_gid)


def vtysh(path_space: str, *commands: str) -> str:
    """Run commands in vtysh and return the output."""
    words = [word for command in commands for word in ("-c", command)]
    return run(["vtysh", "-N", path_space, *words])


def show(path_space: str, command: str) -> dict[str, Any]:
    """The JSON that `command` (without the word json) shows; empty where FRR shows nothing."""
    text = vtysh(path_space, f"{command} json").strip()
    shown = json.loads(text) if text else {}
    return shown if isinstance(shown, dict) else {}
