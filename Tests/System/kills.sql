-- What the database holds after Tests/System/kills, as one JSON object. A nag's escalation is due at these offsets from its
-- due time, which `--escalation` of kills.py names too: phases 1 to 4 and the miss.
WITH offsets (phase, next_step) AS (
    VALUES (1, interval '0 s'), (2, interval '2 s'), (3, interval '4 s'), (4, interval '6 s')
), phases AS (
    SELECT family_id, id, p.phase FROM nags CROSS JOIN LATERAL
        generate_series(1, CASE status WHEN 'missed' THEN 4 ELSE nags.phase END) AS p (phase)
),
-- Every step that a nag must have taken, and those that it took.
expected_steps AS (
    SELECT family_id, id AS nag_id, 'nag_created' AS event, 0 AS phase FROM nags
    UNION ALL SELECT family_id, id, 'nag_escalated', phase FROM phases
    UNION ALL SELECT family_id, id, 'nag_' || status, 0 FROM nags WHERE status IN ('missed', 'completed')
), steps AS (
    SELECT family_id, nag_id, event_type AS event,
           CASE event_type WHEN 'nag_escalated' THEN split_part(payload->>'phase', '_', 2)::integer ELSE 0 END AS phase,
           count(*) AS n
    FROM nag_events GROUP BY 1, 2, 3, 4
), step_differences AS (
    SELECT coalesce(n, 0) - (e.nag_id IS NOT NULL)::integer AS surplus
    FROM expected_steps e FULL JOIN steps s USING (family_id, nag_id, event, phase)
),
-- The same in the audit log, where the phase is not a column.
expected_entries AS (
    SELECT family_id, nag_id, replace(event, '_', '.') AS kind, count(*) AS n FROM expected_steps GROUP BY 1, 2, 3
), entries AS (
    SELECT family_id, resource AS nag_id, kind, count(*) AS n FROM audit_entry WHERE kind LIKE 'nag.%' GROUP BY 1, 2, 3
), entry_differences AS (
    SELECT coalesce(f.n, 0) - coalesce(e.n, 0) AS surplus
    FROM expected_entries e FULL JOIN entries f USING (family_id, nag_id, kind)
),
-- Both people have a device, so each event but the miss notifies one of them; of steps taken together, the last one does.
expected_deliveries AS (
    SELECT e.family_id, e.id AS nag_event_id,
           CASE event_type WHEN 'nag_completed' THEN n.creator_id ELSE n.recipient_id END AS user_id
    FROM nag_events e
    JOIN nags n ON n.family_id = e.family_id AND n.id = e.nag_id
    LEFT JOIN offsets o ON event_type = 'nag_escalated' AND o.phase = split_part(payload->>'phase', '_', 2)::integer
    WHERE event_type IN ('nag_created', 'nag_completed') OR e.at < n.due_at + o.next_step
), intended AS (
    SELECT family_id, nag_event_id, user_id, count(*) AS n FROM deliveries GROUP BY 1, 2, 3
), delivery_differences AS (
    SELECT coalesce(n, 0) - (e.nag_event_id IS NOT NULL)::integer AS surplus
    FROM expected_deliveries e FULL JOIN intended i USING (family_id, nag_event_id, user_id)
),
-- A notification may be dropped for two reasons here; each must be true.
ended AS (
    SELECT d.*, CASE d.failure
        WHEN 'superseded' THEN EXISTS (SELECT FROM deliveries later WHERE later.family_id = d.family_id
            AND later.nag_id = d.nag_id AND later.user_id = d.user_id AND later.created_at > d.created_at)
        WHEN 'nag_closed' THEN n.status <> 'open' AND e.event_type IN ('nag_created', 'nag_escalated')
        ELSE false END AS is_explained
    FROM deliveries d
    JOIN nags n ON n.family_id = d.family_id AND n.id = d.nag_id
    JOIN nag_events e ON e.family_id = d.family_id AND e.nag_id = d.nag_id AND e.id = d.nag_event_id
)
SELECT json_build_object(
    'nags', (SELECT coalesce(json_agg(id), '[]') FROM nags),
    'missed', (SELECT count(*) FROM nags WHERE status = 'missed'),
    'completed', (SELECT count(*) FROM nags WHERE status = 'completed'),
    'steps', (SELECT count(*) FROM nag_events WHERE event_type IN ('nag_escalated', 'nag_missed')),
    'steps_lost', (SELECT count(*) FROM step_differences WHERE surplus < 0),
    'steps_doubled', (SELECT coalesce(sum(surplus), 0) FROM step_differences WHERE surplus > 0),
    'entries_lost', (SELECT coalesce(-sum(surplus), 0) FROM entry_differences WHERE surplus < 0),
    'entries_doubled', (SELECT coalesce(sum(surplus), 0) FROM entry_differences WHERE surplus > 0),
    'deliveries', (SELECT count(*) FROM deliveries),
    'deliveries_not_intended', (SELECT count(*) FROM delivery_differences WHERE surplus < 0),
    'deliveries_intended_twice', (SELECT coalesce(sum(surplus), 0) FROM delivery_differences WHERE surplus > 0),
    'pending', (SELECT count(*) FROM deliveries WHERE status = 'pending' OR next_attempt IS NOT NULL),
    'dropped', (SELECT coalesce(json_object_agg(failure, n), '{}') FROM (
        SELECT failure, count(*) AS n FROM ended WHERE dropped AND is_explained GROUP BY 1) x),
    'ended_without_reason', (SELECT count(*) FROM ended WHERE status = 'failed' AND NOT (dropped AND is_explained)
        OR status = 'delivered'),
    'sent', (SELECT coalesce(json_object_agg(id, extract(epoch FROM at)), '{}') FROM test.records),
    'records_changed', (SELECT count(*) FROM deliveries d LEFT JOIN test.records r USING (id)
        WHERE (d.status = 'sent') <> (r.id IS NOT NULL)),
    'known', (SELECT coalesce(json_agg(id), '[]') FROM deliveries)
)
