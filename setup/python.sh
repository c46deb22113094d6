#!/bin/sh
# Makes .venv from the locked requirements: Debian's own python3, every file checked against its hash, the
# workspace's members installed editable. Nothing is fetched that requirements/*.txt does not pin.
set -eu
cd "$(dirname "$0")/.."
. setup/stamp.sh

# Never a python from pyenv, conda or a user's PATH: the appliance runs this one, and services of the lab
# that run as another user can reach it.
python=/usr/bin/python3
members='appliance webui frr vpp-config'

export UV_CACHE_DIR="$PWD/.tools/cache/uv" PIP_CACHE_DIR="$PWD/.tools/cache/pip"
export UV_PYTHON_DOWNLOADS=never UV_SYSTEM_CERTS=1 PIP_DISABLE_PIP_VERSION_CHECK=1
unset VIRTUAL_ENV CONDA_PREFIX PYTHONPATH PYTHONHOME

mkdir -p .tools
exec 9>.tools/lock
flock 9

tools=$(digest requirements/tools.txt)
if ! fresh tools "$tools" || [ ! -x .tools/bin/uv ]; then
    say "installing uv into .tools"
    rm -rf .tools/uv
    "$python" -m venv .tools/uv
    .tools/uv/bin/pip install --quiet --no-deps --require-hashes --only-binary :all: -r requirements/tools.txt
    mkdir -p .tools/bin
    ln -sfn ../uv/bin/uv .tools/bin/uv
    finished tools "$tools"
    give_back .tools
fi

# uv reads no pip.conf: if pip is configured with a mirror, uv gets the same one.
if [ -z "${UV_DEFAULT_INDEX:-}" ]; then
    mirror=$(.tools/uv/bin/pip config get global.index-url 2>/dev/null || true)
    mirror=${PIP_INDEX_URL:-$mirror}
    [ -z "$mirror" ] || export UV_DEFAULT_INDEX="$mirror"
fi

# shellcheck disable=SC2046
environment=$(digest requirements/dev.txt $(printf '%s/pyproject.toml ' $members))
if ! fresh environment "$environment" || [ ! -x .venv/bin/python ]; then
    say "installing the Python environment into .venv"
    if [ "$(.venv/bin/python -c 'import sys; print(sys.base_prefix, *sys.version_info[:2])' 2>/dev/null)" != \
        "$("$python" -c 'import sys; print(sys.base_prefix, *sys.version_info[:2])')" ]; then
        rm -rf .venv
        .tools/bin/uv venv --quiet --python "$python" .venv
    fi
    .tools/bin/uv pip install --quiet --python .venv/bin/python --no-build --require-hashes -r requirements/dev.txt
    # Without build isolation hatchling comes from the lock above, not from the network.
    # shellcheck disable=SC2046
    .tools/bin/uv pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation --offline \
        $(printf -- '-e ./%s ' $members)
    finished environment "$environment"
    give_back .tools .venv
fi
