#!/bin/sh
# Says how to get Packer where the machine has none and Debian's archive has none either.
set -eu
cd "$(dirname "$0")/.."
. setup/stamp.sh

command -v packer >/dev/null 2>&1 && exit 0

say "packer is not installed, and this release of Debian has no package of it (Debian 12 has packer 1.6.6)"
say "the image needs nothing newer than 1.6.6 and no plugin; any of these will do:"
say "  - the packer binary of HashiCorp's releases, put on the PATH"
say "  - built from source: go mod download github.com/hashicorp/packer@v1.9.4 (the last under MPL-2.0), then go build"
say "  - without Packer, as root: VPP_SOURCE=... .venv/bin/python -m packer.image runs the same stages"
exit 1
