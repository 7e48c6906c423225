# shellcheck shell=bash
# One private PostgreSQL cluster: made on first use, started, reused when it runs already, stopped when it was ours.
# Sourced by lib.sh. A cluster's home holds data/ (PostgreSQL's own), socket/, log, port and the password files (0600).
# PostgreSQL refuses to run as root, so root lends the cluster to the system user `postgres`.

CLUSTER=              # home of the cluster in use
CLUSTER_PORT=         # where it listens, on 127.0.0.1 only
CLUSTER_OURS=         # "yes": stop it in the end
CLUSTER_KIND=         # kept, bench or scratch: see cluster_settings

as_postgres() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && exec runuser -u postgres -- "$@" 9>&-)
    else
        (cd / && exec "$@" 9>&-)
    fi
}

give_to_postgres() { if [ "$(id -u)" = 0 ]; then chown postgres: "$@"; fi; }

# What differs between the clusters: `kept` for people's data, `bench` as the peers were measured, `scratch` for tests,
# which need not survive a power cut; it alone speaks TLS.
cluster_settings() {
    case "$CLUSTER_KIND" in
        kept) echo 'shared_buffers = 128MB' ;;
        bench) echo 'shared_buffers = 512MB' ;;
        scratch) printf '%s\n' 'shared_buffers = 128MB' 'max_connections = 200' \
            'fsync = off' 'synchronous_commit = off' 'full_page_writes = off' 'ssl = on' ;;
    esac
}

# use_cluster KIND HOME: creates and starts it as needed. HOME's parent must exist.
use_cluster() {
    CLUSTER_KIND=$1
    shift
    unset "${!PG@}" # settings of other databases in this environment
    cluster_home "$1"
    [ -s "$CLUSTER/data/PG_VERSION" ] || [ ! -e "$CLUSTER/data" ] ||
        die "$EX_UNAVAILABLE" "the cluster in $1 is damaged: it has no PG_VERSION (deploy/run --fresh creates a new one)"
    [ -e "$CLUSTER/data" ] || cluster_create
    start_cluster
}

# cluster_elsewhere HOME: the folder that root takes instead if the user `postgres` cannot reach HOME.
cluster_elsewhere() { printf '/var/lib/nagz/%s' "$(printf '%s' "$1" | sha256sum | cut -c1-12)"; }

# has_cluster HOME: whether there is a cluster, which need not run.
has_cluster() { [ -e "$1/data" ] || { [ "$(id -u)" = 0 ] && [ ! -e "$1" ] && [ -e "$(cluster_elsewhere "$1")/data" ]; }; }

# cluster_home HOME: sets CLUSTER. A home the user `postgres` cannot reach (a clone below /root) is a link to /var/lib/nagz.
cluster_home() {
    local home=$1 elsewhere
    if [ "$(id -u)" = 0 ] && [ ! -e "$home" ] && ! as_postgres test -x "$(dirname "$home")"; then
        elsewhere=$(cluster_elsewhere "$home")
        mkdir -p "$elsewhere"
        chmod 711 /var/lib/nagz
        ln -sfn "$elsewhere" "$home"
    fi
    [ -e "$home" ] || mkdir -p "$home"
    CLUSTER=$(cd "$home" && pwd -P)
    chmod 711 "$CLUSTER"
}

cluster_create() {
    local new=$CLUSTER/data.new password=$CLUSTER/superuser.password log=$STATE/log/${NAME##*/}-initdb.log option=''
    case "$CLUSTER_KIND" in kept) option=--data-checksums ;; scratch) option=--no-sync ;; esac
    PG_BIN=$(postgres_programs)
    need_space 300 "$CLUSTER"
    rm -rf "$new" "$password"
    make_secret "$password" 24
    make_secret "$CLUSTER/app.password" 24
    make_secret "$CLUSTER/serve.password" 24
    mkdir -m 700 "$new"
    (umask 077 && cp "$password" "$CLUSTER/initdb.password")
    give_to_postgres "$new" "$CLUSTER/initdb.password"
    attempt 'creating a private PostgreSQL cluster' "$log" as_postgres "$PG_BIN/initdb" -D "$new" -U postgres \
        --auth=scram-sha-256 --pwfile="$CLUSTER/initdb.password" --encoding=UTF8 --locale=C.UTF-8 --no-instructions \
        ${option:+"$option"} ||
        give_up "$EX_UNAVAILABLE" "$log" "initdb failed: $(last_line "$log")"
    rm -f "$CLUSTER/initdb.password"
    if [ "$CLUSTER_KIND" = scratch ]; then
        make_certificate "$new"
        trust_test_logins "$new"
    fi
    echo "include 'nagz.conf'" >>"$new/postgresql.conf"
    mv "$new" "$CLUSTER/data"
}

# make_certificate DATA: a key and a self-signed certificate for this machine, where PostgreSQL looks for them.
make_certificate() {
    local log=$STATE/log/${NAME##*/}-certificate.log
    as_postgres openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 7 -subj /CN=localhost \
        -addext 'subjectAltName = DNS:localhost, IP:127.0.0.1' -keyout "$1/server.key" -out "$1/server.crt" >"$log" 2>&1 ||
        give_up "$EX_UNAVAILABLE" "$log" "the cluster's certificate could not be made: $(last_line "$log")"
}

# trust_test_logins DATA: the logins of the tests, which own nothing but test databases, need no password. Hashing it
# takes a client 7 ms, and the tests open ten thousand sessions.
trust_test_logins() {
    sed -i '1i host all nagz_test_owner,nagz_test_server 127.0.0.1/32 trust' "$1/pg_hba.conf"
}

# The process id of the running cluster, or nothing; a stale postmaster.pid (killed, machine restarted) does not count.
cluster_process() {
    local pid
    pid=$(head -n 1 "$CLUSTER/data/postmaster.pid" 2>/dev/null) || return 0
    [ -n "$pid" ] && tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF "$CLUSTER/data" && printf '%s' "$pid"
    return 0
}

start_cluster() {
    local version running tries log=$CLUSTER/log complaints=$STATE/log/${NAME##*/}-cluster.log before
    version=$(cat "$CLUSTER/data/PG_VERSION")
    PG_BIN=$(postgres_programs "$version")
    [ -n "$PG_BIN" ] || die "$EX_UNAVAILABLE" "the data in $CLUSTER needs PostgreSQL $version: install postgresql-$version"
    running=$(cluster_process)
    if [ -n "$running" ]; then
        CLUSTER_PORT=$(sed -n 4p "$CLUSTER/data/postmaster.pid")
        [ "$(cat "$CLUSTER/started" 2>/dev/null)" != "$running" ] || CLUSTER_OURS=yes # a killed run left it behind
    else
        rm -f "$CLUSTER/data/postmaster.pid" "$CLUSTER"/socket/.s.PGSQL.*
        [ -e "$log" ] || (umask 077 && : >"$log")
        give_to_postgres "$log"
        for tries in 1 2 3 4 5; do
            cluster_configure
            before=$(stat -c %s "$log")
            CLUSTER_OURS=yes
            as_postgres "$PG_BIN/pg_ctl" -D "$CLUSTER/data" -l "$log" -w -t 60 -s start >/dev/null 2>&1 && break
            tail -c "+$((before + 1))" "$log" >"$complaints"
            if [ "$tries" = 5 ] || ! grep -aq -e 'Address already in use' -e 'shared memory block' "$complaints"; then
                give_up "$EX_UNAVAILABLE" "$complaints" \
                    "the PostgreSQL cluster in $CLUSTER does not start: $(cluster_complaint "$complaints") (deploy/run --fresh creates a new one)"
            fi
            sleep 1
        done
        cluster_process >"$CLUSTER/started"
    fi
    for _ in {1..600}; do
        "$PG_BIN/pg_isready" -q -h 127.0.0.1 -p "$CLUSTER_PORT" && return 0
        sleep 0.1
    done
    die "$EX_UNAVAILABLE" "the PostgreSQL cluster in $CLUSTER does not answer; its log: $log"
}

cluster_complaint() { grep -aE -m 1 'FATAL|PANIC' "$1" || last_line "$1"; }

# Writes the configuration: the port chosen once and kept while it is free, and a socket directory where its path fits.
cluster_configure() {
    local socket=$CLUSTER/socket
    CLUSTER_PORT=$(cat "$CLUSTER/port" 2>/dev/null || true)
    if [ -z "$CLUSTER_PORT" ] || port_taken "$CLUSTER_PORT"; then
        CLUSTER_PORT=$(free_port)
        printf '%s\n' "$CLUSTER_PORT" >"$CLUSTER/port"
    fi
    case "$socket" in *[\'\"\\,]*) socket='' ;; esac
    [ $((${#socket} + ${#CLUSTER_PORT} + 12)) -le 107 ] || socket='' # the kernel's limit for the path of a socket
    if [ -n "$socket" ]; then
        mkdir -p "$socket"
        chmod 700 "$socket"
        give_to_postgres "$socket"
    fi
    {
        printf '%s\n' "listen_addresses = '127.0.0.1'" "port = $CLUSTER_PORT" \
            "unix_socket_directories = '${socket:+\"$socket\"}'" "password_encryption = 'scram-sha-256'"
        cluster_settings
    } >"$CLUSTER/nagz.conf"
    mv "$CLUSTER/nagz.conf" "$CLUSTER/data/nagz.conf"
    give_to_postgres "$CLUSTER/data/nagz.conf"
}

# Whether a cluster runs that this script (or a killed run before it) started.
cluster_to_stop() { [ "$CLUSTER_OURS" = yes ] && [ -n "$(cluster_process)" ]; }

stop_cluster() {
    cluster_to_stop || return 0
    as_postgres "$PG_BIN/pg_ctl" -D "$CLUSTER/data" -m fast -w -t 30 -s stop >/dev/null 2>&1 ||
        as_postgres "$PG_BIN/pg_ctl" -D "$CLUSTER/data" -m immediate -w -t 10 -s stop >/dev/null 2>&1 || true
    rm -f "$CLUSTER/started"
    CLUSTER_OURS=
}

# remove_cluster HOME: stops it and deletes its data.
remove_cluster() {
    [ -e "$1" ] || return 0
    CLUSTER=$(cd "$1" && pwd -P)
    if [ -n "$(cluster_process)" ]; then
        PG_BIN=$(postgres_programs "$(cat "$CLUSTER/data/PG_VERSION")")
        CLUSTER_OURS=yes
        stop_cluster
    fi
    rm -rf "$CLUSTER" "$1"
}

# cluster_url ROLE DATABASE: ROLE is `postgres` (superuser), `nagz` (owner of the databases made here) or `nagz_serve` (the
# login of `nagz serve`). Tests that are not about TLS do without it.
cluster_url() {
    local options=''
    [ "$CLUSTER_KIND" != scratch ] || options='?sslmode=disable'
    printf 'postgres://%s:%s@127.0.0.1:%s/%s%s' "$1" "$(cat "$(password_file "$1")")" "$CLUSTER_PORT" "$2" "$options"
}

password_file() {
    case "$1" in
        postgres) printf '%s/superuser.password' "$CLUSTER" ;;
        nagz) printf '%s/app.password' "$CLUSTER" ;;
        *) printf '%s/serve.password' "$CLUSTER" ;;
    esac
}

# cluster_sql DATABASE: runs the statements on standard input as superuser.
cluster_sql() {
    PGPASSWORD=$(cat "$CLUSTER/superuser.password") \
        OWNER_PASSWORD=$(cat "$CLUSTER/app.password") SERVE_PASSWORD=$(cat "$CLUSTER/serve.password") \
        "$PG_BIN/psql" -X -q -A -t -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$CLUSTER_PORT" -U postgres -d "$1"
}

# as_operator COMMAND...: runs it as the user postgres, with a superuser's connection to this cluster.
as_operator() { PGHOST=127.0.0.1 PGPORT=$CLUSTER_PORT PGPASSWORD=$(cat "$CLUSTER/superuser.password") as_postgres "$@"; }

# make_database NAME: the logins `nagz` and `nagz_serve`, and a database that `nagz` owns. Neither may make roles: the role
# `nagz_server`, which holds what the migrations grant, is made here. Clusters from before get what they lack.
make_database() {
    local log=$STATE/log/${NAME##*/}-cluster.log
    make_secret "$CLUSTER/serve.password" 24
    cluster_sql postgres >"$log" 2>&1 <<SQL || give_up "$EX_UNAVAILABLE" "$log" "the database could not be created: $(last_line "$log")"
\\getenv owner_password OWNER_PASSWORD
\\getenv serve_password SERVE_PASSWORD
SELECT 'CREATE ROLE nagz_server NOLOGIN'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'nagz_server') \\gexec
SELECT format('CREATE ROLE nagz LOGIN PASSWORD %L', :'owner_password')
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'nagz') \\gexec
SELECT format('CREATE ROLE nagz_serve LOGIN PASSWORD %L', :'serve_password')
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'nagz_serve') \\gexec
SET client_min_messages = error;
ALTER ROLE nagz NOCREATEROLE;
GRANT nagz_server TO nagz, nagz_serve;
GRANT pg_read_all_stats TO nagz;
SELECT 'CREATE DATABASE $1 OWNER nagz'
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '$1') \\gexec
SQL
}

# use_database NAME: makes the database and names it in the environment: DATABASE_URL for the server, NAGZ_OWNER_DATABASE_URL
# for everything else.
use_database() {
    make_database "$1"
    DATABASE_URL=$(cluster_url nagz_serve "$1")
    NAGZ_OWNER_DATABASE_URL=$(cluster_url nagz "$1")
    export DATABASE_URL NAGZ_OWNER_DATABASE_URL
}
