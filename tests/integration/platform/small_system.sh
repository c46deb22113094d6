#!/bin/sh
# A system of nothing but systemd and the units of a folder, in namespaces of its own: its root is a tmpfs, the
# machine's /usr is there read-only, and nothing else of the machine is.
#
#     small_system.sh FOLDER TERMINAL    FOLDER/units, FOLDER/etc; what units print goes to FOLDER/out, and what
#                                        systemd says to the terminal
#
# Started by `unshare --pid --mount --net --ipc --uts --cgroup --fork --kill-child`.
set -eu
folder=$1
root=$folder/root
mount --make-rprivate /
mkdir -p "$root"
mount -t tmpfs -o mode=755 tmpfs "$root"
cd "$root"
mkdir -p usr etc run var/lib var/log var/tmp tmp proc sys dev out old home root efi boot data
chmod 1777 tmp var/tmp
mount --rbind /usr usr
mount -o remount,bind,ro usr
for name in bin sbin lib lib64; do ln -s "usr/$name" "$name"; done
# No unit, generator or setting of the machine's own.
for name in system system-generators system-environment-generators system-preset; do
    [ ! -d "usr/lib/systemd/$name" ] || mount -t tmpfs -o mode=755 tmpfs "usr/lib/systemd/$name"
done
mkdir -p usr/lib/systemd/system
cp "$folder"/units/* usr/lib/systemd/system/
cp -a "$folder/etc/." etc/
chmod 755 etc
ln -s ../run var/run
mount --bind "$folder/out" out
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do
    touch "dev/$name"
    mount --bind "/dev/$name" "dev/$name"
done
touch dev/console
mount --bind "$2" dev/console
mkdir dev/shm dev/net dev/pts
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t proc proc proc
mount -t sysfs sysfs sys
mkdir -p sys/fs/cgroup
umount -R sys/fs/cgroup 2>/dev/null || true
mount -t cgroup2 cgroup2 sys/fs/cgroup
pivot_root . old
cd /
umount -l old
mkdir -p run/netns
touch run/netns/dataplane
unshare --net=/run/netns/dataplane true
/usr/bin/python3 -I /etc/prepare.py
export container=other
exec /usr/lib/systemd/systemd --system --unit=probes.target --log-target=console --log-level=notice --show-status=no
