#!/bin/sh
# Usage: setup/packages.sh GROUP...   (groups: python, node, lab, rust, database, test, image)
# Installs the Debian packages of these groups that are missing.
set -eu
cd "$(dirname "$0")/.."
. setup/stamp.sh
. setup/quiet_install.sh

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

have() {
    command -v "$1" >/dev/null 2>&1
}

wanted() {
    for group in "$@"; do
        case $group in
        python) echo ca-certificates python3 python3-venv ;;
        node)
            # A newer node from any source will do; its package may conflict with Debian's npm.
            have node || echo nodejs
            have npm || echo npm
            ;;
        lab)
            echo bird2 curl ethtool frr gcc iproute2 iputils-ping libc6-dev nftables openssl procps tcpdump \
                traceroute
            ;;
        # Any compiler from Debian 12's 1.63 on builds the Rust programs (lab/rust_program.py); they need no crate.
        rust) have rustc || echo rustc ;;
        database)
            echo postgresql
            if ! have redis-server && ! have valkey-server; then
                if apt-cache show redis-server >/dev/null 2>&1; then echo redis-server; else echo valkey-server; fi
            fi
            ;;
        image)
            echo curl debian-archive-keyring gcc libc6-dev mmdebstrap util-linux zstd
            # Debian 13 has no packer: setup/packer.sh says how to get one.
            have packer || ! apt-cache show packer >/dev/null 2>&1 || echo packer
            ;;
        test)
            echo busybox chromium chromium-driver dnsmasq-base frr-pythontools libvirt-clients libxml2-utils \
                nginx-light openssh-client
            # A kernel with VRFs, for the tests whose own kernel has none, and what loads its modules; not for every
            # architecture.
            ! apt-cache show user-mode-linux >/dev/null 2>&1 || echo kmod user-mode-linux
            ;;
        *)
            say "no such group of packages: $group"
            exit 2
            ;;
        esac
    done
}

missing() {
    for package in $(wanted "$@"); do
        installed "$package" || echo "$package"
    done
}

if ! have apt-get; then
    say "this is no Debian: Debian 12 or 13 is needed"
    exit 1
fi

[ -n "$(missing "$@")" ] || exit 0

if [ "$(id -u)" != 0 ]; then
    say "these Debian packages are missing, and installing them needs root: $(missing "$@" | tr '\n' ' ')"
    exit 1
fi

# A list that cannot be fetched is not yet a failure: the needed packages may be in the others.
apt_get update || say "apt-get update failed; going on with the package lists at hand"
packages=$(missing "$@") # again: whether there is a redis-server shows only now
say "installing: $(echo "$packages" | tr '\n' ' ')"
# shellcheck disable=SC2086
quiet_install $packages
