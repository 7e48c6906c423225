# shellcheck shell=bash
# A hot standby of a test's cluster, with what a test does to it. Sourced after lib.sh.

# make_standby: makes it by a base backup, starts it, and lets a server read from it (NAGZ_STANDBY).
make_standby() {
    local log=$STATE/log/${NAME##*/}-standby.log
    standby_port=$(free_port)
    mkdir -m 700 "$SCRATCH/standby"
    give_to_postgres "$SCRATCH/standby"
    require 'a standby, by pg_basebackup' "$log" as_postgres "$PG_BIN/pg_basebackup" --pgdata "$SCRATCH/standby" --write-recovery-conf \
        --checkpoint fast --no-sync -d "postgres://postgres:$(cat "$CLUSTER/superuser.password")@127.0.0.1:$CLUSTER_PORT/postgres"
    start_standby
    NAGZ_STANDBY=$(CLUSTER_PORT=$standby_port cluster_url nagz_serve nagz)
    export NAGZ_STANDBY
}

start_standby() {
    as_postgres "$PG_BIN/pg_ctl" -D "$SCRATCH/standby" -o "-p $standby_port" -l "$SCRATCH/standby/log" -w -t 60 -s start
    PROCESSES+=("$(head -n 1 "$SCRATCH/standby/postmaster.pid")")
}

stop_standby() { as_postgres "$PG_BIN/pg_ctl" -D "$SCRATCH/standby" -m immediate -w -t 60 -s stop; }

# standby_sql: runs the statements on standard input there, as superuser.
standby_sql() { CLUSTER_PORT=$standby_port cluster_sql postgres; }
