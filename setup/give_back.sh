#!/bin/sh
# After a run through sudo: gives the tools' caches to the user, who runs the linters without sudo.
set -eu
cd "$(dirname "$0")/.."
. setup/stamp.sh

for cache in .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist .keys; do
    [ ! -e "$cache" ] || give_back "$cache"
done
