"""Run once in the small system, before systemd: files with secrets, and sockets that root listens on."""

import grp
import os
import socket
import time
from pathlib import Path

for name in (
    "/etc/ssh/ssh_host_ed25519_key",
    "/data/millrace/secret",
    "/var/lib/millrace/agent/key",
    "/var/lib/millrace/vpp/startup.conf",
    "/{}/secret".format("root"),
    "/home/{}/secret".format("admin"),
):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("secret\n")
    path.chmod(0o644 if path.suffix == ".conf" else 0o600)
Path("/var/lib/millrace/agent").chmod(0o700)
for name in ("/run/frr", "/etc/frr", "/var/lib/frr", "/var/log/frr", "/var/lib/millrace/web"):
    Path(name).mkdir(parents=True, exist_ok=True)
listening = []
for name, group, mode, folder_mode in (
    ("/run/millrace/agent.sock", "millrace", 0o660, 0o755),
    ("/run/dbus/system_bus_socket", "root", 0o666, 0o755),
    ("/run/vpp/api.sock", "vpp", 0o775, 0o750),
):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(name)
    gid = grp.getgrnam(group).gr_gid
    os.chown(path, 0, gid)
    path.chmod(mode)
    os.chown(path.parent, 0, gid if folder_mode == 0o750 else 0)
    path.parent.chmod(folder_mode)
    listener.listen(64)
    listening.append(listener)
if os.fork() == 0:
    # They stay open for as long as the system lives.
    time.sleep(3600)
