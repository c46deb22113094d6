"""Run once in the small system, before systemd: files with secrets, and sockets that root listens on."""

import grp
import os
import socket
import time

for path in (
    "/etc/ssh/ssh_host_ed25519_key", "/data/millrace/secret", "/var/lib/millrace/agent/key", "/root/secret",
    "/var/lib/millrace/vpp/startup.conf", "/home/admin/secret",
):  # fmt: skip
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write("secret\n")
    os.chmod(path, 0o644 if path.endswith(".conf") else 0o600)
os.chmod("/var/lib/millrace/agent", 0o700)
for folder in ("/run/frr", "/etc/frr", "/var/lib/frr", "/var/log/frr", "/var/lib/millrace/web"):
    os.makedirs(folder, exist_ok=True)
os.chmod("/etc/frr", 0o755)
listening = []
for path, group, mode, folder_mode in (
    ("/run/millrace/agent.sock", "millrace", 0o660, 0o755),
    ("/run/dbus/system_bus_socket", "root", 0o666, 0o755),
    ("/run/vpp/api.sock", "vpp", 0o775, 0o750),
):
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    gid = grp.getgrnam(group).gr_gid
    os.chown(path, 0, gid)
    os.chmod(path, mode)
    os.chown(folder, 0, gid if folder_mode == 0o750 else 0)
    os.chmod(folder, folder_mode)
    listener.listen(64)
    listening.append(listener)
if os.fork() == 0:
    # They stay open for as long as the system lives.
    time.sleep(3600)
