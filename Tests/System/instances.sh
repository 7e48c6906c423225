# shellcheck shell=bash
# Two instances of a server over one database, which a test stops and starts one after the other. Sourced after lib.sh.
# shellcheck disable=SC2154 # DATABASE_URL and the keys are scratch_database's

ports=(0 "$(free_port)" "$(free_port)") metrics=(0 "$(free_port)" "$(free_port)")

# start_instance NUMBER OPTION...: the first or second instance, told to stop three seconds before it closes its port.
start_instance() {
    local number=$1
    shift
    start_server "${ports[number]}" "$STATE/log/${NAME##*/}-instance-$number.log" \
        --metrics "127.0.0.1:${metrics[number]}" --log off --proxies 127.0.0.1 --drain-delay 3 "$@"
    PROCESSES[number]=$SERVER
    SERVER=
}

stop_instance() {
    kill -TERM "${PROCESSES[$1]}"
    wait "${PROCESSES[$1]}"
    unset "PROCESSES[$1]"
}

# wait_for_requests NUMBER: until the proxy sends requests to this instance, so that the other one may go.
wait_for_requests() {
    for _ in {1..300}; do
        ! curl -s "http://127.0.0.1:${metrics[$1]}/metrics" | grep -q '^nagz_http_requests_total{.*route="/api/v1/families/{family_id}"' ||
            return 0
        sleep 0.1
    done
    die "$EX_SOFTWARE" "no request reached instance $1 for 30 s after its restart"
}

# recipe FILE: a recipe of deploy/proxies with these instances.
recipe() {
    sed -e "s/127\.0\.0\.1:9800/127.0.0.1:${ports[1]}/" -e "s/127\.0\.0\.1:9801/127.0.0.1:${ports[2]}/" "$ROOT/deploy/proxies/$1"
}
