# shellcheck shell=bash
# The device beside the server, for deploy/bench: the first sync of some 10,000 rows of a family of six over 90 days, the
# size of what is kept, and answers on the device beside the same answers over HTTP in the same run. Sourced, never run.
# Needs NAGZ_PROGRAM, SCRATCH, a cluster in use, and the key files of a server.
# shellcheck disable=SC2154 # STATE, EX_* and the functions are lib.sh's

# bench_device: prints the figures, keeps them in .nagz/bench-device.json; answers 1 if a bar in device.json is missed.
bench_device() {
    local port base token family answer home=$SCRATCH/device results=$STATE/bench-device.json
    local -x DATABASE_URL NAGZ_OWNER_DATABASE_URL NAGZ_AUDIT_CHECKPOINT_FILE=$SCRATCH/device.checkpoint
    use_database device
    migrate_database
    port=$(free_port)
    start_server "$port" "$STATE/log/bench-device.log" --log warning --rate-limits off --scheduler off
    base=http://127.0.0.1:$port
    answer=$(curl -fsS "$base/api/v1/auth/signup" -H 'Content-Type: application/json' \
        -d '{"email": "bench.device@example.com", "password": "bench device passphrase", "display_name": "Ada"}')
    token=$(jq -er .access_token <<<"$answer")
    family=$(device_call "$base/api/v1/families" -d '{"name": "Six"}' | jq -er .family_id)
    for name in Ben Cleo Dan Eve Fay; do
        device_call "$base/api/v1/families/$family/members/create" \
            -d '{"display_name": "'$name'", "role": "participant"}' >/dev/null
    done
    device_call "$base/api/v1/consents" -d '{"family_id": "'"$family"'", "consent_type": "ai_mediation"}' >/dev/null
    device_call "$base/api/v1/consents" \
        -d '{"family_id": "'"$family"'", "consent_type": "gamification_participation"}' >/dev/null
    cluster_sql device <<<"$(device_past "$family")" || die "$EX_SOFTWARE" "the device's benchmark data could not be made"
    mkdir -m 700 -p "$home"
    "$NAGZ_PROGRAM" device login --home "$home" --server "$base" --email bench.device@example.com \
        <<<'bench device passphrase' >/dev/null
    "$NAGZ_PROGRAM" device measure --home "$home" --json >"$results" || die "$EX_SOFTWARE" 'nagz device measure failed'
    stop_server
    show_figures 'the device' device "$results"
}

# shellcheck disable=SC2317 # called above
device_call() { curl -fsS -H "Authorization: Bearer $token" -H 'Content-Type: application/json' "$@"; }

# A quarter of a family of six, spread evenly: some 10,200 rows that the feed still carries.
device_past() {
    cat <<SQL
-- Ids that sort by time, as the server makes them (UUID version 7, but for the version).
CREATE FUNCTION pg_temp.id(at timestamptz) RETURNS uuid LANGUAGE sql VOLATILE RETURN
    (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || substr(md5(random()::text), 1, 20))::uuid;
WITH people AS (SELECT array_agg(user_id ORDER BY user_id) AS ids FROM memberships WHERE family_id = '$1'),
made AS (
    INSERT INTO nags (family_id, id, creator_id, recipient_id, due_at, category, done_definition, description, status,
                      created_at, cycle_started_at, completed_at, closed_at, sync_seq, sync_ts)
    SELECT '$1'::uuid, pg_temp.id(at), p.ids[1], p.ids[1 + n % 6], at + interval '1 day',
           (ARRAY['chores', 'meds', 'homework', 'appointments', 'other'])[1 + n % 5], 'ack_only', 'Something to do, number ' || n,
           CASE WHEN n % 20 = 0 THEN 'open' WHEN n % 5 = 0 THEN 'missed' ELSE 'completed' END, at, at,
           CASE WHEN n % 5 <> 0 THEN at + interval '20 hours' END,
           CASE WHEN n % 20 <> 0 THEN at + interval '20 hours' END, 0, at
    FROM people p, generate_series(1, 2700) n, LATERAL (SELECT now() - interval '1 day' - interval '88 days' * (n / 2700.0) AS at) t
    RETURNING id, creator_id, recipient_id, status, created_at
), happened AS (
    INSERT INTO nag_events (family_id, id, nag_id, event_type, actor_id, recipient_id, at, payload, sync_seq, sync_ts)
    SELECT '$1'::uuid, pg_temp.id(m.created_at), m.id, 'nag_created', m.creator_id, m.recipient_id, m.created_at,
           '{"category": "chores"}'::jsonb, 0, m.created_at FROM made m
    UNION ALL
    SELECT '$1'::uuid, pg_temp.id(m.created_at + interval '20 hours'), m.id, 'nag_' || m.status, m.recipient_id, m.recipient_id,
           m.created_at + interval '20 hours', '{"punctuality": "on_time"}'::jsonb, 0, m.created_at + interval '20 hours'
    FROM made m WHERE m.status <> 'open'
), scored AS (
    INSERT INTO gamification_events
        (family_id, id, user_id, event_type, delta_points, streak_delta, nag_id, at, sync_seq, sync_ts)
    SELECT '$1'::uuid, pg_temp.id(m.created_at + interval '20 hours'), m.recipient_id, 'nag_' || m.status, 10, 1, m.id, m.created_at + interval '20 hours', 0,
           m.created_at + interval '20 hours'
    FROM made m WHERE m.status <> 'open'
)
INSERT INTO ai_mediation_events (family_id, id, nag_id, prompt_type, tone, summary, actor_id, at, sync_seq, sync_ts)
SELECT '$1'::uuid, pg_temp.id(m.created_at), m.id, 'select_tone', 'neutral', 'A calm and neutral voice.', m.creator_id, m.created_at, 0,
       m.created_at
FROM made m ORDER BY m.created_at DESC LIMIT 1400;
UPDATE family_clock SET ts = now() WHERE family_id = '$1';
ANALYZE;
SQL
}
