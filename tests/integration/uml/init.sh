#!/bin/sh
# Init of a user-mode Linux over this machine's own root file system. What it writes is in memory, but for what
# the tests themselves write elsewhere. The kernel's command line has REPOSITORY, PYTHON, and with commas between
# names MODULES and TESTS.
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /run
# The kernel has mounted /dev by itself.
mkdir -p /dev/shm /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t devpts devpts /dev/pts
mkdir -p /run/netns /run/frr /run/repository
mount --bind "$REPOSITORY" /run/repository
for directory in /tmp /etc/frr /var/lib/frr /var/log/frr; do
    [ -d "$directory" ] && mount -t tmpfs tmpfs "$directory"
done
if [ ! -d "$REPOSITORY" ]; then
    # It lies in one of these, such as /tmp.
    mkdir -p "$REPOSITORY"
    mount --bind /run/repository "$REPOSITORY"
fi
mkdir -p /tmp/modules/lib/modules
release=$(uname -r)
cp -r "/usr/lib/uml/modules/$release" /tmp/modules/lib/modules/
depmod -b /tmp/modules "$release"
for module in $(echo "$MODULES" | tr , " "); do
    modprobe -d /tmp/modules "$module" || echo "there is no module $module"
done
ip link set lo up
export HOME=/tmp PYTHONDONTWRITEBYTECODE=1 TMPDIR=/tmp PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd "$REPOSITORY" || exit 1
# shellcheck disable=SC2046  # several names of tests
"$PYTHON" -m pytest -n 0 -p no:cacheprovider -q --junitxml=/tmp/results.xml $(echo "$TESTS" | tr , " ") </dev/null 2>&1
echo "RESULTS BEGIN"
cat /tmp/results.xml
echo
echo "RESULTS END"
exec poweroff -f
