import Testing

@Suite("Tables and who names them")
struct TableTests {
    /// Who writes a table, and who else reads it in SQL of their own: folders below `Server/Features`, or of the server
    /// itself. One that is not listed asks the owner's statements instead.
    private struct Ownership {
        var writers: Set<String>
        var readers: Set<String> = []
    }

    private static let tables: [String: Ownership] = [
        "users": Ownership(
            writers: ["Auth"],
            // Everybody shows or names people: by id, display name or pseudonym.
            readers: [
                "Access", "Admins", "AI", "Audit", "Connections", "Consents", "Deliveries", "Families", "Incentives",
                "Ingestion", "Ledger", "Metrics", "Nags", "Policies", "Preferences", "Realtime", "Safety", "Sync",
                "Server/Audit",
            ]),
        "sessions": Ownership(writers: ["Auth"], readers: ["Access", "Realtime"]),
        "refresh_tokens": Ownership(writers: ["Auth"]),
        "sign_in_attempts": Ownership(writers: ["Auth"]),
        "pin_attempts": Ownership(writers: ["Auth"]),
        "known_addresses": Ownership(writers: ["Auth"]),
        "idempotency_keys": Ownership(writers: ["Ledger"]),
        "daily_counts": Ownership(writers: ["Ledger"]),
        "refusal_counts": Ownership(writers: ["Ledger"]),
        "families": Ownership(
            writers: ["Families"], readers: ["Access", "AI", "Audit", "Deliveries", "Metrics", "Nags", "Server/Audit"]),
        // The row is born with its family; nobody but the ledger moves it, and the sequencer notes that it is done with it.
        "family_clock": Ownership(
            writers: ["Ledger", "Families", "Server/Audit"],
            readers: ["Access", "AI", "Audit", "Auth", "Connections", "Ingestion", "Nags", "Realtime", "Sync"]),
        "memberships": Ownership(
            writers: ["Families"],
            readers: [
                "Access", "AI", "Audit", "Auth", "Consents", "Deliveries", "Gamification", "Nags", "Policies",
                "Preferences", "Realtime", "Safety", "Sync", "Server/Audit",
            ]),
        "child_credentials": Ownership(writers: ["Families"]),
        "child_settings": Ownership(writers: ["Families"], readers: ["AI", "Deliveries", "Nags"]),
        // Made with a membership, suspended for safety.
        "relationships": Ownership(writers: ["Families", "Safety"], readers: ["Server/Audit"]),
        "consents": Ownership(writers: ["Consents"], readers: ["Server/Audit"]),
        "preferences": Ownership(writers: ["Preferences"], readers: ["AI", "Gamification"]),
        "policies": Ownership(writers: ["Policies"], readers: ["AI", "Gamification", "Nags", "Server/Audit"]),
        "policy_approvals": Ownership(writers: ["Policies"], readers: ["Server/Audit"]),
        "sync_grants": Ownership(writers: ["Sync"]),
        "nags": Ownership(
            writers: ["Nags"],
            readers: ["AI", "Deliveries", "Gamification", "Metrics", "Realtime", "Reports", "Sync", "Server/Audit"]),
        // Written by a trigger on `nags`.
        "resolved_nags": Ownership(writers: [], readers: ["AI"]),
        "nag_events": Ownership(writers: ["Nags"], readers: ["AI", "Deliveries", "Sync"]),
        "excuses": Ownership(writers: ["Nags"], readers: ["AI", "Reports"]),
        "inputs": Ownership(writers: ["Ingestion"]),
        "enrichments": Ownership(writers: ["Ingestion"]),
        "ai_mediation_events": Ownership(writers: ["AI"], readers: ["Sync"]),
        "gamification_events": Ownership(writers: ["Gamification"], readers: ["Realtime", "Sync", "Server/Audit"]),
        "member_totals": Ownership(writers: ["Gamification"], readers: ["AI", "Server/Audit"]),
        "badges": Ownership(writers: ["Gamification"], readers: ["Server/Audit"]),
        "incentive_rules": Ownership(writers: ["Incentives"], readers: ["Server/Audit"]),
        "incentive_events": Ownership(writers: ["Incentives"], readers: ["Server/Audit"]),
        "blocks": Ownership(writers: ["Safety"]),
        "abuse_reports": Ownership(writers: ["Safety"]),
        "connections": Ownership(writers: ["Connections"], readers: ["Server/Audit"]),
        "devices": Ownership(writers: ["Devices"]),
        "deliveries": Ownership(writers: ["Deliveries"]),
        "report_snapshots": Ownership(writers: ["Reports"]),
        "live_sockets": Ownership(writers: ["Realtime"]),
        "scheduler_plan": Ownership(writers: ["Jobs"]),
        // The ledger adds; what retention and erasure take, the audit log's tools take.
        "audit_entry": Ownership(writers: ["Ledger", "Server/Audit"], readers: ["Audit", "Realtime"]),
        "audit_payload": Ownership(writers: ["Ledger", "Server/Audit"], readers: ["Audit"]),
        "audit_leaf": Ownership(writers: ["Server/Audit"], readers: ["Audit"]),
        "audit_node": Ownership(writers: ["Server/Audit"]),
        "audit_checkpoint": Ownership(writers: ["Server/Audit"], readers: ["Audit"]),
        "audit_key": Ownership(writers: ["Server/Audit"]),
        "audit_pass": Ownership(writers: ["Server/Audit"]),
        "audit_prune": Ownership(writers: ["Server/Audit"], readers: ["Audit"]),
        "audit_subject_key": Ownership(writers: ["Server/Audit"], readers: ["Audit"]),
        "admins": Ownership(writers: ["Admins"], readers: ["Access", "Audit", "Auth", "Server/Audit"]),
    ]

    /// Tables of features that are not built yet.
    private static let planned: Set<String> = [
        "report_snapshots"
    ]

    @Test("every table has its owner here")
    func complete() {
        #expect(Set(SourceFile.tables) == Set(Self.tables.keys))
    }

    @Test("a table is written by its owner, and read by those listed", arguments: Array(tables.keys).sorted())
    func named(table: String) throws {
        let ownership = try #require(Self.tables[table])
        let writing = try Regex("\\b(?:INTO|UPDATE|DELETE FROM|TRUNCATE) +\(table)\\b")
        let naming = try Regex("\\b(?:INTO|UPDATE|FROM|JOIN) +(?:LATERAL +)?\(table)\\b")
        var isUsed = false
        for file in SourceFile.all where file.target == "Server" {
            guard let place = Self.place(of: file) else { continue }
            let code = file.code.joined(separator: "\n")
            isUsed = isUsed || code.contains(naming)
            if code.contains(writing) {
                #expect(ownership.writers.contains(place), "\(file.path) writes \(table)")
            } else if code.contains(naming) {
                #expect(ownership.writers.union(ownership.readers).contains(place), "\(file.path) reads \(table)")
            }
        }
        #expect(isUsed != Self.planned.contains(table))
    }

    /// The feature or part of the server that a file belongs to; nil outside both.
    private static func place(of file: SourceFile) -> String? {
        let parts = file.path.split(separator: "/").map(String.init)
        guard parts.count > 2 else { return nil }
        // `Server/Audit` keeps the log, `Server/Features/Audit` shows it to people.
        return parts[1] == "Features" ? parts[2] : parts[1] == "Audit" ? "Server/Audit" : parts[1]
    }
}
