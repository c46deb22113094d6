#!/bin/sh
# Usage: setup/lock.sh [--upgrade]
# Locks the dependencies of the workspace in requirements/*.txt, every file with its hashes.
#   tools.txt    uv itself          build.txt  builds the members' wheels
#   runtime.txt  the appliance      dev.txt    all of it, the lab and the tests
# These files name no registry, unlike uv.lock, so that a mirror serves as well as the original.
set -eu
cd "$(dirname "$0")/.."
. setup/stamp.sh

export UV_CACHE_DIR="$PWD/.tools/cache/uv" UV_SYSTEM_CERTS=1 UV_PYTHON_DOWNLOADS=never

compile() {
    .tools/bin/uv pip compile --quiet --no-config --no-header --python .venv/bin/python \
        --universal --python-version 3.11 --generate-hashes "$@" >/dev/null
}

projects='appliance/pyproject.toml webui/pyproject.toml frr/pyproject.toml vpp-config/pyproject.toml'
# The members themselves are installed from this checkout.
omitted='--no-emit-package appliance --no-emit-package webui --no-emit-package frr-config --no-emit-package vpp-config'

# shellcheck disable=SC2086
{
    compile "$@" $omitted $projects --group dev -o requirements/dev.txt
    compile $omitted $projects -c requirements/dev.txt -o requirements/runtime.txt
    compile --group build -c requirements/dev.txt -o requirements/build.txt
    compile "$@" requirements/tools.in -o requirements/tools.txt
}
say "requirements/*.txt are up to date"
