# Sourced by the other scripts here: runs a step again only when its dependencies have changed.
# shellcheck shell=sh

stamps=.tools/stamps

# digest FILE... : one digest over the names and contents of the files, the place of the checkout
# (virtual environments cannot be moved) and Debian's python.
digest() {
    {
        pwd
        /usr/bin/python3 --version
        sha256sum "$@"
    } 2>&1 | sha256sum | cut -d' ' -f1
}

# fresh NAME DIGEST : true when step NAME was last finished with this digest.
fresh() {
    [ "$(cat "$stamps/$1" 2>/dev/null)" = "$2" ]
}

# finished NAME DIGEST : records it.
finished() {
    mkdir -p "$stamps"
    echo "$2" >"$stamps/$1"
}

# give_back PATH... : gives files that root made in a user's checkout through sudo to the user.
give_back() {
    if [ -n "${SUDO_UID:-}" ] && [ "$(id -u)" = 0 ]; then
        chown -R -h "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "$@"
    fi
}

say() {
    echo "millrace: $*" >&2
}
