# shellcheck shell=bash
# shellcheck disable=SC2086,SC2119,SC2120 # entries are split into words; cluster.sh names a version to postgres_programs
# What the scripts need from Debian and PyPI: the one list, and how it is installed. Sourced by lib.sh.

# MARK: the list

# By script (its path, without deploy/) or part: Debian packages, other entries (@entry) and Python environments (python:NAME).
# POSTGRES stands for the version of PostgreSQL in use.
declare -A NEEDS=(
    # The Swift toolchain links with what g++ brings, and does not start without libncurses6 and libxml2.
    [build]='g++ git libncurses6 libxml2 libpq-dev libssl-dev libsodium-dev zlib1g-dev libsqlite3-dev libcurl4-openssl-dev pkg-config curl ca-certificates tzdata'
    [cluster]='postgresql-POSTGRES openssl'
    [program]='curl ca-certificates procps' # a program of a Debian package that serves
    [server]='@build @cluster procps' # a release build that serves
    [python]='python3 python3-venv'
    [repack]='postgresql-POSTGRES-repack'

    [test]='@unit-tests shellcheck unicode-data python:verifier'
    [unit-tests]='@server @python jq python:swift-tests'
    [bench]='@server python3 wrk gcc libc6-dev jq'
    [package]='@build dpkg-dev binutils'

    [Tests/System/backup]='@server jq python3 pgbackrest systemd'
    [Tests/System/browser]='@server python3 chromium fonts-dejavu-core'
    [Tests/System/clients]='@server @python python:clients'
    [Tests/System/container]='@server @package buildah mmdebstrap jq'
    [Tests/System/day]='@server @python python:websockets'
    [Tests/System/faults]='@Tests/System/readme-test python3 libfaketime'
    [Tests/System/fresh]='@Tests/System/package'
    [Tests/System/ha]='@server jq python3 iproute2 patroni python3-etcd etcd-server haproxy'
    [Tests/System/kills]='@server python3'
    [Tests/System/local-only]='@Tests/System/readme-test python3 strace'
    [Tests/System/migrations]='@cluster python3'
    [Tests/System/needs]='@cluster'
    [Tests/System/models]='@server @python jq python:llama python:litellm'
    [Tests/System/monitoring]='@Tests/System/readme-test prometheus libfaketime'
    [Tests/System/package]='@package @Tests/System/websocket lintian mmdebstrap systemd util-linux'
    [Tests/System/proxies]='@Tests/System/websocket caddy nginx haproxy util-linux'
    [Tests/System/readme-test]='@server jq'
    [Tests/System/repack]='@server @repack jq python3'
    [Tests/System/reproducible]='@package'
    [Tests/System/schemathesis]='@Tests/System/readme-test @python python:schemathesis'
    [Tests/System/standby]='@Tests/System/readme-test python3'
    [Tests/System/upgrade]='@server jq python3 haproxy'
    [Tests/System/websocket]='@Tests/System/readme-test @python python:websockets'
)

# The packages of a Python environment.
declare -A PYTHON_PACKAGES=(
    [clients]='openapi-python-client==0.29.1 datamodel-code-generator==0.89.0 ruff==0.17.6 pydantic[email]==2.14.3 openapi-spec-validator==0.9.0'
    [litellm]='litellm[proxy]==1.106.2'
    [llama]='llama-cpp-python[server]==0.3.36 gguf==0.19.0'
    [schemathesis]='schemathesis==4.32.5'
    [verifier]='cryptography==50.0.2'
    [swift-tests]='aiosmtpd==1.4.6 hypercorn==0.17.3 cryptography==50.0.2 opentelemetry-proto==1.45.2 tzdata==2026.6'
    [websockets]='websockets==17.4'
)

# MARK: reading the list

# entries ENTRY...: these and the entries that they name, a line each.
entries() {
    local entry word
    for entry; do
        [ -n "${NEEDS[$entry]:-}" ] || die "$EX_SOFTWARE" "deploy/needs.sh has no entry $entry"
        printf '%s\n' "$entry"
        for word in ${NEEDS[$entry]}; do
            [[ $word != @* ]] || entries "${word#@}" || return
        done
    done
}

# needs ENTRY...: their Debian packages and Python environments, a line each.
needs() {
    local all word version
    all=$(entries "$@") || return
    for word in $(for entry in $all; do printf '%s\n' ${NEEDS[$entry]}; done | sort -u); do
        case "$word" in
            @*) ;;
            *POSTGRES*)
                version=$(postgres_version) || return
                # A server that is not Debian's does as well.
                [ "$word" = postgresql-POSTGRES ] && [ -n "$(postgres_programs)" ] || printf '%s\n' "${word/POSTGRES/$version}"
                ;;
            *) printf '%s\n' "$word" ;;
        esac
    done
}

# The version of PostgreSQL that is installed here, or else the one that Debian has; 15, of Debian 12, where apt-get knows no package.
postgres_version() {
    local programs version
    programs=$(postgres_programs)
    version=${programs#/usr/lib/postgresql/} version=${version%/bin}
    [ -n "$version" ] || version=$({ apt-cache depends postgresql || true; } 2>/dev/null | sed -n 's/^ *Depends: postgresql-//p')
    printf '%s' "${version:-15}"
}

# The newest PostgreSQL program directory at or above 15, or that of one given version.
postgres_programs() {
    local wanted=${1:-} directory version found=''
    for directory in /usr/lib/postgresql/*/bin; do
        version=${directory#/usr/lib/postgresql/} version=${version%/bin}
        if [ ! -x "$directory/initdb" ] || [ "$version" -lt 15 ]; then continue; fi
        if [ -z "$wanted" ] || [ "$wanted" = "$version" ]; then found=$directory; fi
    done
    printf '%s' "$found"
}

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# The interpreter of a Python environment. A clone that was moved has others.
python_of() { printf '%s/python/%s/bin/python' "$STATE" "$1"; }

# Whether an environment has the packages of the list and starts here.
python_is_complete() {
    [ "$(cat "$STATE/python/$1/complete" 2>/dev/null)" = "$STATE ${PYTHON_PACKAGES[$1]}" ] && "$(python_of "$1")" -c '' 2>/dev/null
}

# MARK: installing

# need [ENTRY...]: installs what is missing of the entries, in one transaction of apt-get; without an entry, that of this script.
# While the steps of deploy/test run, nothing is installed: then each entry must be among those that it has installed.
need() {
    local entry word words missing=() environments=()
    [ $# -gt 0 ] || set -- "${NAME#deploy/}"
    for entry; do
        [ -z "${NAGZ_INSTALLED:-}" ] || [[ " $NAGZ_INSTALLED " == *" $entry "* ]] ||
            die "$EX_SOFTWARE" "deploy/test does not install what $entry needs: it has to name it before its first step"
    done
    [ -n "$(postgres_programs)" ] || know_packages
    words=$(needs "$@") || exit
    for word in $words; do
        case "$word" in
            python:*) python_is_complete "${word#python:}" || environments+=("${word#python:}") ;;
            *) is_installed "$word" || missing+=("$word") ;;
        esac
    done
    [ -z "${NAGZ_INSTALLED:-}" ] || [ ${#missing[@]}${#environments[@]} = 00 ] ||
        die "$EX_SOFTWARE" "missing while the steps of deploy/test run, which installs everything before: ${missing[*]} ${environments[*]}"
    [ ${#missing[@]} = 0 ] || install_packages "${missing[@]}"
    for word in "${environments[@]}"; do install_python "$word"; done
}

# Whether this user is root or has sudo, and may be asked for a password.
is_administrator() { [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && { { [ -t 0 ] && sudo -v; } || sudo -n true 2>/dev/null; }; }; }

# administrate LABEL SCRIPT ARGUMENT...: runs the script with APT's functions as root, or through sudo.
administrate() {
    local log=$STATE/log/${NAME##*/}-apt.log root=()
    [ "$(id -u)" = 0 ] || root=(sudo -n)
    attempt "$1" "$log" "${root[@]}" sh -c "$APT$2" sh "${@:3}" || give_up "$EX_UNAVAILABLE" "$log" "$1 failed: $(last_line "$log")"
}

# One clone at a time uses apt-get on this machine. PostgreSQL's package would start a cluster of its own for the whole machine;
# nobody asked for that one.
# shellcheck disable=SC2016
APT='
export DEBIAN_FRONTEND=noninteractive
conf=/etc/postgresql-common/createcluster.d/nagz.conf
mkdir -p /run/lock "${conf%/*}"
exec 7>/run/lock/nagz-apt.lock
flock 7
trap "rm -f $conf" EXIT
echo "create_main_cluster = false" >"$conf"
apt_get() { apt-get -o DPkg::Lock::Timeout=120 "$@" 7>&-; }
'

PACKAGE_LISTS= # "read", once apt-get knows what Debian has today

# Old lists name versions that are gone.
refresh_package_lists() {
    [ -n "$PACKAGE_LISTS" ] || administrate 'reading the lists of Debian packages' 'apt_get update'
    PACKAGE_LISTS="read"
}

# Reads the lists on a machine that has none yet, where this user may.
know_packages() { apt-cache show postgresql >/dev/null 2>&1 || ! is_administrator || refresh_package_lists; }

# install_packages PACKAGE...
install_packages() {
    local words="these Debian packages are missing: $*"
    command -v apt-get >/dev/null || die "$EX_NOPERM" "$words; install them: this machine has no apt-get"
    is_administrator || die "$EX_NOPERM" "$words; you may not install them: have an administrator run apt-get install $*"
    need_space 500 /var
    refresh_package_lists
    keep_serving "$@"
    administrate "installing $(summary "$@")" 'apt_get install -y --no-install-recommends "$@"' "$@"
}

# The words, or how many there are where they do not fit in a line.
summary() { if [ $# -gt 4 ]; then printf '%d Debian packages' $#; else printf '%s' "$*"; fi; }

# keep_serving PACKAGE...: refuses to install them where that upgrades a PostgreSQL under a cluster that runs: its server would no
# longer find its libraries. Clusters of the machine itself (/var/lib/postgresql) are restarted by their package.
keep_serving() {
    local version process folder
    while read -r version; do
        while read -r process folder; do
            case "$folder" in /var/lib/postgresql/*) continue ;; esac
            die "$EX_TEMPFAIL" "installing $(summary "$@") upgrades PostgreSQL $version, which serves $folder: stop it first (Ctrl-C where deploy/run serves, or kill -INT $process)"
        done < <(serving_clusters "$version")
    done < <(apt-get -s install -y --no-install-recommends "$@" 2>/dev/null | sed -n 's/^Inst postgresql-\([0-9]*\) \[.*/\1/p')
}

# serving_clusters VERSION: process and data folder of each running server of this version, a line each.
serving_clusters() {
    local directory program flag folder
    for directory in /proc/[0-9]*; do
        { IFS= read -r -d '' program && IFS= read -r -d '' flag && IFS= read -r -d '' folder; } 2>/dev/null <"$directory/cmdline" || continue
        if [ "$program $flag" = "/usr/lib/postgresql/$1/bin/postgres -D" ]; then printf '%s %s\n' "${directory#/proc/}" "$folder"; fi
    done
}

# install_python NAME: makes a Python environment of the list, also for scripts that run at the same time.
install_python() {
    local log=$STATE/log/${NAME##*/}-pip.log
    mkdir -p "$STATE/python"
    attempt "installing Python packages: $1" "$log" make_python "$1" ||
        give_up "$EX_UNAVAILABLE" "$log" "the Python packages ${PYTHON_PACKAGES[$1]} could not be installed: $(last_line "$log")"
}

# shellcheck disable=SC2317 # called by attempt
make_python() (
    folder=$STATE/python/$1
    flock 7
    ! python_is_complete "$1" || exit 0
    rm -rf "$folder"
    read -ra packages <<<"${PYTHON_PACKAGES[$1]}"
    # llama.cpp is compiled for every processor of this kind, not for this one: the clone may be moved.
    python3 -m venv "$folder" &&
        CMAKE_ARGS=-DGGML_NATIVE=OFF "$folder/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" &&
        printf '%s\n' "$STATE ${PYTHON_PACKAGES[$1]}" >"$folder/complete"
) 7>"$STATE/python/$1.lock"

# MARK: while steps run

# close_installs ENTRY...: from here on `need` only checks that these entries have what is asked, and apt-get and pip refuse and
# note it in $REFUSED. So a step that is not on the list fails on every machine.
REFUSED=$STATE/log/refused-installs
close_installs() {
    local command folder=$STATE/closed
    NAGZ_INSTALLED=$(entries "$@" | sort -u | xargs)
    export NAGZ_INSTALLED NAGZ_OPEN_PATH=$PATH PIP_NO_INDEX=yes
    rm -rf "$folder"
    mkdir -p "$folder"
    for command in apt apt-get aptitude pip pip3; do
        cat >"$folder/$command" <<STUB
#!/bin/sh
echo "$command \$* was refused while the steps of deploy/test run: what it is to install belongs in deploy/needs.sh" |
    tee -a '$REFUSED' >&2
exit $EX_SOFTWARE
STUB
        chmod 755 "$folder/$command"
    done
    rm -f "$REFUSED"
    PATH=$folder:$PATH
}

# debian_tree TARGET OPTION...: a fresh Debian 12 at TARGET by mmdebstrap, from the apt sources of this machine that have it. Its
# apt-get is for the tree, so it works while steps run.
debian_tree() {
    local target=$1
    local -a sources
    shift
    mapfile -t sources < <(grep -ls bookworm /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources})
    PATH=${NAGZ_OPEN_PATH:-$PATH} mmdebstrap --mode=root "$@" bookworm "$target" "${sources[@]}"
}
