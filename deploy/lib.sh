# shellcheck shell=bash
# What the scripts of this folder share: messages, steps with progress, the toolchain, ports, secrets and the server process.
# Sourced, never run. What is installed is in needs.sh, the private PostgreSQL cluster in cluster.sh.
# shellcheck disable=SC2034 # the constants are for the scripts that source this
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
STATE=$ROOT/.nagz
NAME=$(realpath -m --relative-to="$ROOT" "$0")
export LC_ALL=C.UTF-8                                           # messages and decimal points as these scripts expect them
export no_proxy="127.0.0.1,localhost${no_proxy:+,$no_proxy}" NO_PROXY="127.0.0.1,localhost${NO_PROXY:+,$NO_PROXY}"

# Exit codes, as in sysexits.h; the server uses the same.
EX_USAGE=64 EX_UNAVAILABLE=69 EX_SOFTWARE=70 EX_CANTCREAT=73 EX_IOERR=74 EX_TEMPFAIL=75 EX_NOPERM=77 EX_CONFIG=78

# MARK: messages

say() { printf '%s\n' "$*"; }

# die CODE MESSAGE: one clear line, then the end.
die() {
    clear_progress
    printf '%s: %s\n' "$NAME" "$2" >&2
    exit "$1"
}

clear_progress() { if [ -t 1 ]; then printf '\r\033[K'; fi; }

# The last line of a log that a person can read (server logs are JSON lines).
last_line() { grep -av -e '^[[:space:]]*$' -e '^{' "$1" 2>/dev/null | tail -n 1 | tr -d '\r'; }

# MARK: steps

declare -A CHILDREN=() # process groups of the steps under way, by number

# launch LOG COMMAND...: starts the command in a process group of its own, with its output in LOG. Its number is in $!.
launch() {
    local log=$1
    shift
    set -m
    "$@" </dev/null >"$log" 2>&1 9>&- &
    set +m
    CHILDREN[$!]=yes
}

# reap PROCESS: answers the status of a command that was launched.
reap() {
    local status=0
    wait "$1" || status=$?
    unset "CHILDREN[$1]"
    return "$status"
}

# show_start LABEL, show_progress LABEL LOG STARTED: that a step is under way; on a terminal its minutes and the newest line of its log.
# report_progress LABEL LOG STARTED: the same in a line of its own.
show_start() { [ -t 1 ] || printf '        %s …\n' "$1"; }

show_progress() {
    [ -t 1 ] || return 0
    printf '\r\033[K%.*s' "$(($(tput cols 2>/dev/null || echo 80) - 1))" \
        "        $1 … $(minutes_since "$3") min: $(newest_line "$2")"
}

report_progress() { printf '        %s … %s min: %s\n' "$1" "$(minutes_since "$3")" "$(newest_line "$2")"; }

newest_line() { tail -c 400 "$1" | tr '\r' '\n' | last_line -; }

# show_result LABEL STARTED STATUS
show_result() {
    local result=ok
    [ "$3" = 0 ] || result=FAILED
    clear_progress
    printf '%-7s %-52s %8.1f s\n' "$result" "$1" "$(since "$2")"
}

# attempt LABEL LOG COMMAND...: runs the command in a process group of its own with its output in LOG, shows its
# newest line on a terminal and elsewhere every 30 seconds, then one line with the result and the time. Answers the
# command's status.
attempt() {
    local label=$1 log=$2 started=$EPOCHREALTIME status=0 process reported=$SECONDS
    show_start "$label"
    launch "$log" "${@:3}"
    process=$!
    while kill -0 "$process" 2>/dev/null; do
        show_progress "$label" "$log" "$started"
        if [ ! -t 1 ] && ((SECONDS - reported >= 30)); then
            reported=$SECONDS
            report_progress "$label" "$log" "$started"
        fi
        sleep 0.1
    done
    reap "$process" || status=$?
    show_result "$label" "$started" "$status"
    return "$status"
}

minutes_since() { printf '%s' $(((EPOCHSECONDS - ${1%[.,]*}) / 60)); }

since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'; }

# Ends the steps under way.
stop_children() {
    local process
    for process in "${!CHILDREN[@]}"; do kill -TERM -- "-$process" 2>/dev/null || true; done
    for process in "${!CHILDREN[@]}"; do
        for _ in {1..200}; do kill -0 -- "-$process" 2>/dev/null || break; sleep 0.1; done
        kill -KILL -- "-$process" 2>/dev/null || true
    done
    CHILDREN=()
}

# give_up CODE LOG MESSAGE: says why a step failed in one line, by what is known of its log.
give_up() {
    if grep -aq -e 'No space left on device' -e 'ENOSPC' "$2"; then
        die "$EX_IOERR" "the disk is full ($3); free some space and run it again"
    fi
    die "$1" "$3"
}

# free_space DIRECTORY: megabytes.
free_space() { df -Pk "$1" | awk 'NR == 2 { print int($4 / 1024) }'; }

# need_space MEGABYTES DIRECTORY
need_space() {
    local free
    free=$(free_space "$2")
    [ "$free" -ge "$1" ] || die "$EX_IOERR" "too little disk space under $2: $1 MB needed, $free MB free"
}

# MARK: toolchain

NEEDED_SWIFT=$(sed -n '1s/.*swift-tools-version: *\([0-9.]*\).*/\1/p' "$ROOT/Package.swift")

# need_toolchain: that there is one; before what it needs is installed, it may not start.
need_toolchain() {
    local hint=''
    [ -z "${SUDO_USER:-}" ] || hint=" (sudo hides it? try: sudo env PATH=\"\$PATH\" $NAME)"
    command -v swift >/dev/null ||
        die "$EX_UNAVAILABLE" "no Swift toolchain found: Swift $NEEDED_SWIFT or newer must be on the PATH, see https://www.swift.org/install/linux/$hint"
}

# use_toolchain: that it starts and is new enough, and that its caches are of this place.
use_toolchain() {
    local found
    found=$({ swift --version 2>/dev/null || true; } | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' | head -n 1)
    [ -n "$found" ] || die "$EX_UNAVAILABLE" "the Swift toolchain on the PATH does not start (swift --version)"
    [ "$(printf '%s\n' "$NEEDED_SWIFT" "$found" | sort -V | head -n 1)" = "$NEEDED_SWIFT" ] ||
        die "$EX_UNAVAILABLE" "Swift $found is too old: $NEEDED_SWIFT or newer is needed"
    own_build_cache
}

# own_build_cache: the compiler's caches hold absolute paths, and fail with a riddle in a clone that was moved or copied: those of
# another place are removed, also the ones in .nagz/home. Where a plain `swift build` made them, its manifests tell the place.
own_build_cache() {
    local cache=$ROOT/.build place=
    if [ -e "$cache/place" ]; then
        place=$(<"$cache/place")
    elif grep -qsF "\"$ROOT/" "$cache"/*.yaml; then
        place=$ROOT
    fi
    if [ "$place" != "$ROOT" ]; then
        ! compgen -G "$cache/*.yaml" >/dev/null ||
            say "        built at ${place:-another place} before: this clone was moved or copied, so everything is built again"
        rm -rf "$cache" "$STATE/home/.cache"
    fi
    mkdir -p "$cache"
    printf '%s' "$ROOT" >"$cache/place"
}

# Without debug information, which takes a seventh of the time: packages are stripped of it, and names of functions in a
# crash's report do not need it.
RELEASE_BUILD=(swift build --package-path "$ROOT" -c release --product nagz --static-swift-stdlib -debug-info-format none)

build_release() {
    local log=$STATE/log/${NAME##*/}-build.log
    use_toolchain
    if [ -x "$ROOT/.build/release/nagz" ]; then
        need_space 300 "$ROOT"
    else
        need_space 1500 "$ROOT"
        say "        the first build takes about five minutes on two cores; its log is ${log/#$ROOT\//}"
    fi
    attempt 'building nagz (release)' "$log" "${RELEASE_BUILD[@]}" ||
        give_up "$EX_SOFTWARE" "$log" "the build failed: $(grep -am 1 'error:' "$log" || last_line "$log") (all of it: $log)"
    NAGZ_PROGRAM=$ROOT/.build/release/nagz
}

# use_release_build: builds for release, unless NAGZ_PROGRAM names a program already.
use_release_build() {
    [ -z "${NAGZ_PROGRAM:-}" ] || return 0
    need_toolchain
    build_release
}

# MARK: state, ports, secrets

# open_state: makes .nagz, where everything that is not source lives.
open_state() {
    local owner
    mkdir -p "$STATE" 2>/dev/null || die "$EX_NOPERM" "$ROOT cannot be written by $(id -un)"
    owner=$(stat -c %U "$STATE")
    [ -O "$STATE" ] || die "$EX_NOPERM" "$STATE belongs to $owner: run this as $owner, or delete the directory"
    chmod 711 "$STATE"
    mkdir -p "$STATE/log"
    chmod 700 "$STATE/log"
    # Compilers, browsers and pip keep caches at home.
    if [ ! -w "${HOME:-/nonexistent}" ]; then
        export HOME=$STATE/home
        mkdir -p "$HOME"
    fi
}

# port_taken PORT: whether something listens there (read from /proc, nothing is connected to).
port_taken() {
    cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
        awk -v port="$(printf ':%04X' "$1")" '$4 == "0A" && substr($2, length($2) - 4) == port { found = 1 } END { exit !found }'
}

# free_port: where nothing listens, and which no other script was given that still runs: what is in .nagz/ports until leave_nothing.
free_port() {
    local port
    mkdir -p "$STATE/ports" || return
    while :; do
        port=$((20000 + RANDOM % 12000))
        if ! port_taken "$port" && ln -s $$ "$STATE/ports/$port" 2>/dev/null; then break; fi
    done
    printf '%s' "$port"
}

random_hex() { od -An -v -tx1 -N "$1" /dev/urandom | tr -d ' \n'; }

# Whether this user may mount, in a namespace of its own.
can_mount() { [ "$(id -u)" = 0 ] && unshare --mount mount -t tmpfs none /mnt 2>/dev/null; }

# make_secret FILE BYTES: random hexadecimal digits in a file only its owner reads; an existing one is kept.
make_secret() {
    [ ! -s "$1" ] || return 0
    (umask 077 && mkdir -p "$(dirname "$1")" && random_hex "$2" >"$1.new")
    mv "$1.new" "$1"
}

# make_audit_keys FILE: makes the keys of the audit log; an existing file is kept. Needs NAGZ_PROGRAM.
make_audit_keys() {
    [ ! -s "$1" ] || return 0
    (umask 077 && mkdir -p "$(dirname "$1")")
    rm -f "$1.new"
    "$NAGZ_PROGRAM" audit keys new "$1.new" --origin "nagz.local/$(random_hex 4)" >/dev/null ||
        die "$EX_SOFTWARE" "the keys of the audit log could not be created"
    mv "$1.new" "$1"
}

# MARK: the server

SERVER=      # process id of the server this script started
PROCESSES=() # of other processes that a test started, which end with it

# start_server PORT LOG ARGUMENT...: starts `nagz serve` and waits until it is ready. Needs NAGZ_PROGRAM, DATABASE_URL,
# NAGZ_TOKEN_KEY_FILE and NAGZ_AUDIT_KEY_FILE; the owner's login is not for the server. In a session of its own, so that Ctrl-C
# reaches this script, which then drains the server.
start_server() {
    local port=$1 log=$2 status=0 answer deadline=$((SECONDS + 30))
    shift 2
    (umask 077 && : >"$log")
    setsid env -u NAGZ_OWNER_DATABASE_URL "$NAGZ_PROGRAM" serve --host 127.0.0.1 --port "$port" "$@" </dev/null >"$log" 2>&1 9>&- &
    SERVER=$!
    while [ $SECONDS -lt $deadline ]; do
        answer=$(curl -s -o /dev/null --max-time 2 -w '%{http_code}' "http://127.0.0.1:$port/health/ready") || true
        [ "$answer" != 200 ] || return 0
        if ! kill -0 "$SERVER" 2>/dev/null; then
            wait "$SERVER" || status=$?
            SERVER=
            give_up "$((status == 0 ? EX_SOFTWARE : status))" "$log" "the server did not start: $(last_line "$log")"
        fi
        sleep 0.05
    done
    die "$EX_UNAVAILABLE" "the server was not ready within 30 s: /health/ready answered $answer, its log says: $(last_line "$log")"
}

# Drains and ends the server this script started.
stop_server() {
    [ -n "$SERVER" ] || return 0
    end_process "$SERVER" 15
    wait "$SERVER" 2>/dev/null || true
    SERVER=
}

# end_process PID SECONDS: asks, waits, and kills what has not gone by then.
end_process() {
    kill -TERM "$1" 2>/dev/null || return 0
    for ((i = 0; i < $2 * 10; i++)); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$1" 2>/dev/null || true
}

# migrate_database: brings the database in NAGZ_OWNER_DATABASE_URL to the program's schema.
migrate_database() {
    local log=$STATE/log/${NAME##*/}-migrate.log status=0
    attempt 'migrating the database' "$log" "$NAGZ_PROGRAM" migrate || status=$?
    [ "$status" = 0 ] || give_up "$status" "$log" "the database could not be migrated: $(last_line "$log")"
}

# MARK: a server to try things on

SCRATCH= # temporary directory with the cluster, keys and logs of a test; gone in the end

# Makes it in memory where there is room: the tests make and drop more than a thousand databases of 500 files each, which took a
# disk's file system as long as everything else.
make_scratch() {
    local parent=${TMPDIR:-/tmp}
    if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ] && [ "$(free_space /dev/shm)" -ge 4000 ]; then parent=/dev/shm; fi
    SCRATCH=$(mktemp -d "$parent/nagz-${NAME##*/}.XXXXXX")
    chmod 711 "$SCRATCH" # PostgreSQL's user passes through
}

# scratch_database: the release build, and a migrated database of its own with the keys that a server needs.
scratch_database() {
    use_release_build
    use_cluster "${SCRATCH_KIND:-scratch}" "$SCRATCH/postgres"
    use_database nagz
    make_secret "$SCRATCH/token.key" 32
    make_audit_keys "$SCRATCH/audit.key"
    export NAGZ_TOKEN_KEY_FILE=$SCRATCH/token.key NAGZ_AUDIT_KEY_FILE=$SCRATCH/audit.key
    migrate_database
}

# scratch_server ARGUMENT...: a server on a free port, with a scratch_database. Sets NAGZ to its address. A function
# before_serving, where there is one, is called once the database is migrated.
scratch_server() {
    local port
    scratch_database
    if [ "$(type -t before_serving)" = function ]; then before_serving; fi
    port=$(free_port)
    start_server "$port" "$STATE/log/${NAME##*/}-server.log" "$@"
    NAGZ=http://127.0.0.1:$port
}

# require LABEL LOG COMMAND...: a step of a test, which ends with the end of its log if the step fails.
require() {
    attempt "$@" || { tail -n 20 "$2"; give_up "$EX_SOFTWARE" "$2" "$1: failed (all of it: $2)"; }
}

# expect WHAT ACTUAL EXPECTED
expect() { [ "$2" = "$3" ] || die "$EX_SOFTWARE" "$1: '$2' instead of '$3'"; }

# Ends and removes everything a test started; the trap of the scripts that test.
# shellcheck disable=SC2317 # called by the trap
leave_nothing() {
    trap '' INT TERM HUP PIPE
    set +e
    stop_children
    stop_server
    for process in "${PROCESSES[@]}"; do end_process "$process" 15; done
    find "$STATE/ports" -lname $$ -delete 2>/dev/null
    [ -n "$SCRATCH" ] || return 0
    remove_cluster "$SCRATCH/postgres"
    rm -rf "$SCRATCH"
}

end_cleanly() {
    trap leave_nothing EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 141' PIPE
    trap 'exit 143' TERM
}

# shellcheck source-path=SCRIPTDIR source=needs.sh
. "$ROOT/deploy/needs.sh"
# shellcheck source-path=SCRIPTDIR source=cluster.sh
. "$ROOT/deploy/cluster.sh"
