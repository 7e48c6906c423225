import Audit
import Domain
import Postgres
import SQL

/// The invariants of every database, which are checked at the end of a test.
extension TestDatabase {
    /// Returns a sentence for every violation of an invariant.
    func faults() async throws -> [String] {
        var faults: [String] = []
        let clocks = try await rows("SELECT family_id, seq, ts, head FROM family_clock") { row in
            (
                family: try row["family_id"] as FamilyID, seq: try row["seq"] as Int64, ts: try row["ts"] as Timestamp,
                head: try row["head"] as [UInt8]
            )
        }
        for clock in clocks { faults += try await chainFaults(clock.family, clock.seq, clock.ts, clock.head) }
        faults += try await rows(
            """
            SELECT 'audit entries of a family without a clock: ' || count(*) AS fault FROM audit_entry e
            WHERE NOT EXISTS (SELECT FROM family_clock c WHERE c.family_id = e.family_id) HAVING count(*) > 0
            """
        ) { try $0["fault"] }
        faults += try await sumFaults()
        faults += try await stampFaults()
        return faults
    }

    /// Returns the kinds of all audit entries.
    func auditKinds() async throws -> Set<String> {
        Set(try await rows("SELECT DISTINCT kind FROM audit_entry") { try $0["kind"] })
    }

    private func chainFaults(_ family: FamilyID, _ seq: Int64, _ ts: Timestamp, _ head: [UInt8]) async throws
        -> [String]
    {
        let entries = try await rows(
            """
            SELECT e.*, p.salt, p.body, p.key_id, k.wrapped
            FROM audit_entry e LEFT JOIN audit_payload p USING (family_id, n)
            LEFT JOIN audit_subject_key k ON k.id = p.key_id
            WHERE e.family_id = \(family) ORDER BY e.n
            """
        ) { row in
            let act = AuditEntry.Act(
                kind: try row["kind"], actor: try row["actor"], subject: try row["subject"],
                resource: try row["resource"], trace: try row["trace"], request: try row["request"],
                commitment: try row["commit"])
            let entry = AuditEntry(
                family: try row["family_id"], number: try row["n"], at: try row["at"], act: act,
                previous: try row["prev"], hash: try row["hash"])
            return (entry: entry, salt: try row["salt"] as [UInt8]?, body: try row.unsealedBody())
        }
        var verifier = ChainVerifier(family: family)
        for (entry, salt, body) in entries {
            do throws(ChainVerifier.Fault) {
                try verifier.check(entry, payload: salt.flatMap { salt in body.map { (salt, $0) } })
            } catch {
                return ["chain of \(family): \(error)"]
            }
            if let body, AuditBody(canonical: body) == nil {
                return ["body \(entry.number) of \(family) is not canonical"]
            }
        }
        guard verifier.lastNumber == seq, verifier.head == head else {
            return ["chain of \(family) ends at \(verifier.lastNumber), its clock at \(seq)"]
        }
        if let last = entries.last?.entry, last.at != ts { return ["clock and last entry of \(family) differ in time"] }
        return []
    }

    /// Returns faults unless the stored totals are the sums of the events, and the stored counts are those of the nags.
    private func sumFaults() async throws -> [String] {
        try await rows(
            """
            SELECT 'resolved nags of ' || coalesce(r.user_id, n.user_id) || ' are ' || coalesce(r::text, 'missing')
                   || ', the nags say ' || coalesce(n::text, 'nothing') AS fault
            FROM resolved_nags r FULL JOIN (
                SELECT family_id, recipient_id AS user_id, category, count(*) AS total,
                       count(*) FILTER (WHERE status = 'completed') AS completed
                FROM nags WHERE status IN ('completed', 'missed') GROUP BY family_id, recipient_id, category
            ) n USING (family_id, user_id, category)
            WHERE (coalesce(r.total, 0), coalesce(r.completed, 0)) <> (coalesce(n.total, 0), coalesce(n.completed, 0))
            UNION ALL
            SELECT 'totals of ' || coalesce(t.user_id, s.user_id) || ' are ' || coalesce(t::text, 'missing')
                   || ', the events say ' || coalesce(s::text, 'nothing') AS fault
            FROM member_totals t FULL JOIN (
                SELECT family_id, user_id, sum(delta_points) AS points, sum(streak_delta) AS streak, count(*) AS events,
                       count(*) FILTER (WHERE event_type = 'nag_completed') AS completions
                FROM gamification_events GROUP BY family_id, user_id
            ) s USING (family_id, user_id)
            WHERE (coalesce(t.points - t.dropped_points, 0), coalesce(t.streak - t.dropped_streak, 0),
                   coalesce(t.events - t.dropped_events, 0), coalesce(t.completions - t.dropped_completions, 0))
               <> (coalesce(s.points, 0), coalesce(s.streak, 0), coalesce(s.events, 0), coalesce(s.completions, 0))
            """
        ) { try $0["fault"] }
    }

    /// Returns faults unless every row of the feed has the number and the time of an act of its family, and no second
    /// has more rows of one kind than a page.
    private func stampFaults() async throws -> [String] {
        try await rows(
            """
            WITH stamped AS (
                SELECT 'nags' AS entity, family_id, sync_seq, sync_ts FROM nags
                UNION ALL SELECT 'nag_events', family_id, sync_seq, sync_ts FROM nag_events
                UNION ALL SELECT 'ai_mediation_events', family_id, sync_seq, sync_ts FROM ai_mediation_events
                UNION ALL SELECT 'gamification_events', family_id, sync_seq, sync_ts FROM gamification_events
            )
            SELECT entity || ' stamped ' || sync_seq || ' belongs to no act' AS fault FROM stamped s
            WHERE NOT EXISTS (
                SELECT FROM audit_entry e WHERE e.family_id = s.family_id AND e.n = s.sync_seq AND e.at = s.sync_ts)
            UNION ALL
            SELECT entity || ': ' || count(*) || ' rows in one second' FROM stamped
            GROUP BY entity, family_id, date_trunc('second', sync_ts) HAVING count(*) > 400
            """
        ) { try $0["fault"] }
    }
}
