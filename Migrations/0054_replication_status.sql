-- How far standbys are behind, for the server's metrics: numbers only. pg_stat_replication shows them to members of
-- pg_read_all_stats, which a superuser grants to the schema's owner; the server's login gets no more than this function.
CREATE FUNCTION replication_status(
    OUT is_visible boolean, OUT standbys integer, OUT synchronous integer, OUT written bigint, OUT replayed bigint
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    -- Backups stream too, but replay nothing. Where the rest is hidden, all that stream are counted.
    SELECT v.is_visible, count(s.pid) FILTER (WHERE s.replay_lsn IS NOT NULL OR NOT v.is_visible)::integer,
           count(s.pid) FILTER (WHERE s.replay_lsn IS NOT NULL AND s.sync_state IN ('sync', 'quorum'))::integer,
           CASE WHEN pg_is_in_recovery() THEN 0 ELSE pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') END::bigint,
           pg_wal_lsn_diff(min(s.replay_lsn), '0/0')::bigint
    FROM (SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS is_visible) v
    LEFT JOIN pg_stat_replication s ON true
    GROUP BY v.is_visible
$$;
REVOKE ALL ON FUNCTION replication_status() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION replication_status() TO nagz_server;
