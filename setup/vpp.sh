#!/bin/sh
# Installs the pinned release of VPP from FD.io's package repository, where no VPP is installed.
set -eu
cd "$(dirname "$0")/.."
. setup/stamp.sh
. setup/quiet_install.sh

release=26.06-release
repository=https://packagecloud.io/fdio/release
# The packages for Debian 12 run on Debian 13 as well.
suite=bookworm
key=/etc/apt/keyrings/millrace-fdio.asc
sources=/etc/apt/sources.list.d/millrace-fdio.sources
policy_of_apt=/usr/share/apt/default-sequoia.config
policy_for_fdio=/etc/apt/millrace-fdio-signatures.config

[ ! -x /usr/bin/vpp ] || exit 0

give_up() {
    rm -f "$key" "$sources" "$policy_for_fdio"
    say "$1"
    say "VPP $release was not installed. Install its packages vpp and vpp-plugin-core by hand, or use DATAPLANE=linux."
    exit 1
}

say "VPP is not installed; taking $release from $repository"
mkdir -p "$(dirname "$key")"
curl -fsSL --proto =https --retry 2 --connect-timeout 15 --max-time 60 -o "$key" "$repository/gpgkey" ||
    give_up "FD.io's repository cannot be reached"
cat >"$sources" <<END
Types: deb
URIs: $repository/debian/
Suites: $suite
Components: main
Signed-By: $key
END
# packagecloud's keys bind their own names with SHA-1, which Debian 13's apt refuses since 2026-02-01.
if [ -f "$policy_of_apt" ]; then
    sed -e '/^sha1/d' -e '/^\[hash_algorithms\]$/a\
sha1.second_preimage_resistance = 2100-01-01\
sha1.collision_resistance = 2100-01-01' "$policy_of_apt" >"$policy_for_fdio"
    export APT_SEQUOIA_CRYPTO_POLICY="$policy_for_fdio"
fi
apt_get update -o Dir::Etc::sourcelist="$sources" -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0 ||
    give_up "FD.io's repository gives no package list for Debian $suite"
unset APT_SEQUOIA_CRYPTO_POLICY
# Their post-install would reserve 2 GiB of huge pages and start a VPP on the machine's own interfaces.
export VPP_INSTALL_SKIP_SYSCTL=1
# What is about to be installed, compared with the digests of the repository, if it has them.
digests=$PWD/setup/vpp-$release.sha256
archives=$(mktemp -d)
chmod 755 "$archives"
(cd "$archives" && apt-get -qq download "libvppinfra=$release" "vpp=$release" "vpp-plugin-core=$release") ||
    { rm -rf "$archives"; give_up "apt-get could not download VPP $release"; }
if [ -f "$digests" ]; then
    (cd "$archives" && for package in *.deb; do grep -F "  $package" "$digests" || echo "none  $package"; done |
        sha256sum --quiet --strict --check -) ||
        { rm -rf "$archives"; give_up "a package of VPP $release has not the digest of $digests"; }
else
    say "NOTE: VPP's packages are not pinned by digest (setup/vpp-$release.sha256 is absent): they are VPP's by the word of"
    say "$repository, whose key was just taken from it"
fi
quiet_install "$archives"/*.deb || { rm -rf "$archives"; give_up "apt-get could not install VPP $release"; }
rm -rf "$archives"
# Another release is another VPP: an upgrade of the machine must not install it.
rm -f "$key" "$sources" "$policy_for_fdio"
say "note: VPP's package has put /etc/sysctl.d/80-vpp.conf in place: it reserves huge pages from the next boot on"
