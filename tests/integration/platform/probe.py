"""Run inside a unit's sandbox: prints what it can read, write and connect to. Needs nothing but Python.

It opens files for writing without writing, and removes what it made.
"""

import json
import os
import socket
from pathlib import Path

READ = (
    "/etc/shadow",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/passwd",
    "/data/millrace/secret",
    "/var/lib/millrace/agent/key",
    "/var/lib/millrace/vpp/startup.conf",
    "/{}/secret".format("root"),
    "/home/{}/secret".format("admin"),
    "/run/netns/dataplane",
    "/var/run/netns/dataplane",
    "/proc/1/environ",
)
WRITE = (
    "/etc",
    "/usr/lib/systemd/system",
    "/run",
    "/run/systemd/system",
    "/run/millrace",
    "/run/vpp",
    "/run/netns",
    "/run/millrace/feeder",
    "/run/millrace/bgp-index",
    "/var/lib/millrace",
    "/var/lib/millrace/vpp",
    "/var/lib/millrace/agent",
    "/data/millrace",
    "/tmp",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/module",
)
CONNECT = {
    "systemd": "/run/systemd/private",
    "D-Bus": "/run/dbus/system_bus_socket",
    "agent": "/run/millrace/agent.sock",
    "VPP": "/run/vpp/api.sock",
}


def can_read(path: str) -> bool:
    """Whether it opens."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def can_write(path: str) -> bool:
    """Whether a file opens for writing, or a folder takes a new file."""
    try:
        if Path(path).is_dir():
            made = Path(path) / f"probe-{os.getpid()}"
            os.close(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            made.unlink()
        else:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def can_connect(path: str) -> bool:
    """Whether a socket takes a connection."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
        except OSError:
            return False
        return True


def becomes_group_0() -> bool:
    """Whether it can take root's group, which it has not."""
    before = os.getegid()
    try:
        os.setegid(0)
    except OSError:
        return False
    return before != 0


status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(
    json.dumps(
        {
            "uid": os.geteuid(),
            "gid": os.getegid(),
            "capabilities": int(status["CapBnd"], 16),
            "read": [path for path in READ if can_read(path)],
            "write": [path for path in WRITE if can_write(path)],
            "connect": [name for name, path in CONNECT.items() if can_connect(path)],
            "becomes_group_0": becomes_group_0(),
        }
    )
)
