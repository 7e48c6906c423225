# shellcheck shell=bash
# What a request costs when there are more families, for deploy/bench: a database and a server for each size. Sourced, never run.
# Needs NAGZ_PROGRAM, SCRATCH, a cluster in use, the key files of a server and the environment of bench.py.
# shellcheck disable=SC2154 # STATE, EX_* and the functions are lib.sh's and deploy/bench's

# bench_growth FAMILIES,… [OPTION]...: prints the figures, keeps them in .nagz/bench-growth.json; answers 1 if a bar in
# growth.json is missed.
bench_growth() {
    local size total=0 results=$STATE/bench-growth.json log=$STATE/log/bench-growth.log
    local -a sizes
    local -x DATABASE_URL NAGZ_OWNER_DATABASE_URL
    IFS=, read -ra sizes <<<"$1"
    shift
    for size in "${sizes[@]}"; do total=$((total + size)); done
    need_space $((total + 10000)) "$STATE" # a family takes 0.85 MB; the rest is for the log of PostgreSQL
    large_cluster >"$log" 2>&1 || give_up "$EX_UNAVAILABLE" "$log" "the cluster could not be configured: $(last_line "$log")"
    grep -q '^HugePages_Rsvd: *[1-9]' /proc/meminfo ||
        say 'PostgreSQL runs without huge pages here, so more families cost more (deploy/scaling.md, Memory of PostgreSQL)'
    for size in "${sizes[@]}"; do seed_size "$size"; done
    drive python3 "$ROOT/Tests/Benchmarks/growth.py" "${sizes[@]}" "$@" >"$results" || exit "$EX_SOFTWARE"
    show_figures 'Growth' growth "$results"
}

# Gives the cluster what one of this size has: a quarter of the memory, and a log so large that seeding makes no checkpoints, after
# which every page would be written again.
large_cluster() {
    local quarter
    quarter=$(awk '$1 == "MemTotal:" { print int($2 / 4096) }' /proc/meminfo)
    cluster_sql postgres <<<"ALTER SYSTEM SET max_wal_size = '8GB'" &&
        cluster_sql postgres <<<"ALTER SYSTEM SET shared_buffers = '${quarter}MB'" &&
        as_postgres "$PG_BIN/pg_ctl" -D "$CLUSTER/data" -l "$CLUSTER/log" -m fast -w -t 60 -s restart &&
        cluster_process >"$CLUSTER/started"
    export BENCH_POSTMASTER
    BENCH_POSTMASTER=$(cluster_process)
}

# seed_size FAMILIES: a database of that many families, and the scripts of its load.
seed_size() {
    local log=$STATE/log/seed-growth.log
    use_database "growth_$1"
    migrate_database
    attempt "seeding $1 families" "$log" "$NAGZ_PROGRAM" seed bench --families "$1" --out "$SCRATCH/growth-$1" ||
        give_up "$EX_UNAVAILABLE" "$log" "the data of $1 families could not be made: $(last_line "$log")"
    attempt 'VACUUM ANALYZE, CHECKPOINT' "$log" settle "growth_$1" || give_up "$EX_UNAVAILABLE" "$log" "$(last_line "$log")"
}
