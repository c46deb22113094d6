# Sourced by the scripts that install Debian packages: no service that comes with one is started or left enabled.
# The lab and the tests run their own copies; a machine that ran no PostgreSQL or FRR before runs none afterwards.
# shellcheck shell=sh

policy=/usr/sbin/policy-rc.d
policy_before=/usr/sbin/policy-rc.d.before-millrace
policy_marker='# Written by Millrace for the time of one installation.'

apt_get() {
    DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}

restore_policy() {
    if [ -e "$policy_before" ] || [ -L "$policy_before" ]; then
        mv -f "$policy_before" "$policy"
    elif grep -qF "$policy_marker" "$policy" 2>/dev/null; then
        rm -f "$policy"
    fi
}

# policy-rc.d is Debian's own way to say that an installation must not start services.
forbid_starts() {
    restore_policy # left by an installation that was killed
    if [ -e "$policy" ] || [ -L "$policy" ]; then
        mv -f "$policy" "$policy_before"
    fi
    printf '#!/bin/sh\n%s\nexit 101\n' "$policy_marker" >"$policy"
    chmod 755 "$policy"
}

# Only for packages that this run installed: a service that somebody enabled stays unchanged.
disable_services() {
    command -v systemctl >/dev/null || return 0
    for package in "$@"; do
        case ${package%%=*} in
        frr) unit=frr.service ;;
        bird2) unit=bird.service ;;
        nginx-light) unit=nginx.service ;;
        postgresql) unit=postgresql.service ;;
        redis-server) unit=redis-server.service ;;
        valkey-server) unit=valkey-server.service ;;
        vpp) unit=vpp.service ;;
        *) continue ;;
        esac
        systemctl disable --quiet "$unit" >/dev/null 2>&1 || say "could not disable $unit; it may start at boot"
    done
}

# quiet_install PACKAGE... : none of them is installed yet. Says only what apt says on failure.
quiet_install() {
    mkdir -p .tools
    trap restore_policy EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    forbid_starts
    apt_get install -y --no-install-recommends -o Dpkg::Use-Pty=0 \
        -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@" >.tools/apt.log 2>&1 || {
        tail -n 30 .tools/apt.log >&2
        return 1
    }
    disable_services "$@"
    restore_policy
}
