# shellcheck shell=bash
# The load of writes.py on a test's server. Sourced after lib.sh.

# start_writes URL...: families that write through these instances until end_writes. Meanwhile descriptor 8 is the load's input: what
# goes on in the background needs 8>&-.
start_writes() {
    writes_log=$STATE/log/${NAME##*/}-load.log
    mkfifo "$SCRATCH/load"
    python3 "$ROOT/Tests/System/writes.py" "$SCRATCH/writes" "$@" <"$SCRATCH/load" >"$writes_log" 2>&1 9>&- &
    writer=$!
    PROCESSES+=("$writer")
    exec 8>"$SCRATCH/load"
    for _ in {1..300}; do
        ! grep -q ready "$writes_log" || return 0
        sleep 0.1
    done
    die "$EX_SOFTWARE" "the load is not ready after 30 s: $writes_log"
}

# end_writes: prints how many requests were answered with what.
end_writes() {
    exec 8>&-
    wait "$writer" || die "$EX_SOFTWARE" "the load ended early: $(last_line "$writes_log")"
    rm "$SCRATCH/load"
    say "        $(last_line "$writes_log")"
}

# failed_writes: how many requests were not answered with 200 or 201.
failed_writes() { awk '$3 != 200 && $3 != 201' "$SCRATCH/writes" | wc -l; }
