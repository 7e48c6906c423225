# shellcheck shell=bash
# WebSockets, for deploy/bench: how fast a change reaches a socket of another instance, how a burst is coalesced, and what
# 10,000 idle sockets cost. Sourced, never run. Needs NAGZ_PROGRAM, SCRATCH, a cluster in use, and the key files of a server.
# shellcheck disable=SC2154 # STATE, EX_* and the functions are lib.sh's

# bench_sockets: prints the figures, keeps them in .nagz/bench-sockets.json; answers 1 if a bar in sockets.json is missed.
bench_sockets() {
    local ports status=0 first results=$STATE/bench-sockets.json log=$STATE/log/bench-sockets.log
    local -x DATABASE_URL NAGZ_OWNER_DATABASE_URL
    use_database sockets
    migrate_database
    mkdir -p "$SCRATCH/sockets"
    (cd "$SCRATCH/sockets" && "$NAGZ_PROGRAM" seed bench --families 1000) >"$log" 2>&1 ||
        give_up "$EX_UNAVAILABLE" "$log" "the benchmark data could not be made: $(last_line "$log")"
    ports=("$(free_port)")
    NAGZ_AUDIT_CHECKPOINT_FILE=$SCRATCH/sockets/one start_server "${ports[0]}" "$STATE/log/bench-sockets-one.log" --log warning --rate-limits off
    first=$SERVER
    ports+=("$(free_port)")
    NAGZ_AUDIT_CHECKPOINT_FILE=$SCRATCH/sockets/two start_server "${ports[1]}" "$STATE/log/bench-sockets-two.log" --log warning --rate-limits off
    attempt '10,000 sockets' "$log" python3 "$ROOT/Tests/Benchmarks/sockets.py" \
        "http://127.0.0.1:${ports[0]}" "http://127.0.0.1:${ports[1]}" "$SERVER" 10000 "$SCRATCH/sockets/targets.txt" || status=$?
    stop_server
    SERVER=$first
    stop_server
    [ "$status" = 0 ] || give_up "$EX_SOFTWARE" "$log" "Tests/Benchmarks/sockets.py failed: $(last_line "$log")"
    tail -n 1 "$log" >"$results"
    show_figures 'WebSockets' sockets "$results"
}
