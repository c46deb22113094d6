#!/bin/sh
# Fetches the web's scripts, styles and icons as package-lock.json pins them, and puts what the pages use into
# webui/src/webui/static/vendor. The appliance has no internet: nothing is loaded from elsewhere at run time.
set -eu
cd "$(dirname "$0")/.."
. setup/stamp.sh

mkdir -p .tools
exec 9>.tools/lock
flock 9

modules=$(digest package.json package-lock.json)
if ! fresh modules "$modules" || [ ! -d node_modules ]; then
    say "fetching the web's assets into node_modules"
    npm ci --silent --ignore-scripts --no-audit --no-fund --cache .tools/cache/npm
    finished modules "$modules"
    give_back .tools node_modules
fi

vendor=webui/src/webui/static/vendor
assets=$(digest package-lock.json setup/assets.py webui/icons.txt)
if ! fresh assets "$assets" || [ ! -d "$vendor" ]; then
    .venv/bin/python -m setup.assets node_modules "$vendor"
    finished assets "$assets"
    give_back .tools "$(dirname "$vendor")"
fi
