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
                "Access", "Admins", "AI", "Attachments", "Audit", "Connections", "Consents", "Deliveries", "Devices",
                "Families",
                "Constraints", "Incentives",
                "Ingestion", "Ledger", "Metrics", "Nags", "Policies", "Preferences", "Realtime", "Safety", "Sync",
                "AuditKeeping",
            ]),
        "sessions": Ownership(writers: ["Auth"], readers: ["Access", "Realtime"]),
        "refresh_tokens": Ownership(writers: ["Auth"]),
        "sign_in_attempts": Ownership(writers: ["Auth"]),
        "pin_attempts": Ownership(writers: ["Auth"]),
        "known_addresses": Ownership(writers: ["Auth"]),
        "account_codes": Ownership(writers: ["Auth"]),
        "device_secrets": Ownership(writers: ["Auth"]),
        "phone_codes": Ownership(writers: ["Accounts"]),
        "socket_tickets": Ownership(writers: ["Realtime"]),
        "idempotency_keys": Ownership(writers: ["Ledger"]),
        "daily_counts": Ownership(writers: ["Ledger"]),
        "refusal_counts": Ownership(writers: ["Ledger"]),
        "families": Ownership(
            writers: ["Families"],
            readers: [
                "Access", "AI", "Audit", "Deliveries", "Metrics", "Nags", "Preferences", "AuditKeeping",
            ]),
        // The row is born with its family; nobody but the ledger moves it, and the sequencer notes that it is done with it.
        "family_clock": Ownership(
            writers: ["Ledger", "Families", "AuditKeeping"],
            readers: [
                "Access", "AI", "Audit", "Auth", "Connections", "Devices", "Ingestion", "Nags", "Realtime", "Sync",
            ]),
        "memberships": Ownership(
            writers: ["Families"],
            readers: [
                "Access", "AI", "Attachments", "Audit", "Auth", "Consents", "Deliveries", "Executions", "Gamification",
                "Keys",
                "Nags",
                "Policies",
                "Preferences", "Realtime", "Safety", "Sync", "AuditKeeping",
            ]),
        "child_credentials": Ownership(writers: ["Families"]),
        "child_settings": Ownership(writers: ["Families"], readers: ["AI", "Deliveries", "Nags"]),
        // Made with a membership, suspended for safety.
        "relationships": Ownership(writers: ["Families", "Safety"], readers: ["AuditKeeping"]),
        "consents": Ownership(writers: ["Consents"], readers: ["AuditKeeping"]),
        "preferences": Ownership(writers: ["Preferences"], readers: ["AI", "Executions", "Gamification"]),
        "policies": Ownership(writers: ["Policies"], readers: ["AI", "Gamification", "Keys", "Nags", "AuditKeeping"]),
        "policy_approvals": Ownership(writers: ["Policies"], readers: ["AuditKeeping"]),
        "sync_grants": Ownership(writers: ["Sync"]),
        "nags": Ownership(
            writers: ["Nags"],
            readers: [
                "AI", "Attachments", "Deliveries", "Gamification", "Metrics", "Realtime", "Reports", "Sync",
                "AuditKeeping",
            ]),
        // Written by a trigger on `nags`.
        "resolved_nags": Ownership(writers: [], readers: ["AI"]),
        "nag_events": Ownership(writers: ["Nags"], readers: ["AI", "Deliveries", "Sync"]),
        "excuses": Ownership(writers: ["Nags"], readers: ["AI", "Reports"]),
        "inputs": Ownership(writers: ["Ingestion"]),
        "enrichments": Ownership(writers: ["Ingestion"]),
        "ai_constraints": Ownership(writers: ["Constraints"], readers: ["AI"]),
        "drafts": Ownership(writers: ["Drafts"], readers: ["Deliveries"]),
        "ai_executions": Ownership(writers: ["Executions"]),
        "ai_sessions": Ownership(writers: ["Executions"]),
        "ai_session_turns": Ownership(writers: ["Executions"]),
        "ai_confirmations": Ownership(writers: ["Executions"]),
        "ai_mediation_events": Ownership(writers: ["AI"], readers: ["Sync"]),
        "gamification_events": Ownership(writers: ["Gamification"], readers: ["Realtime", "Sync", "AuditKeeping"]),
        "member_totals": Ownership(writers: ["Gamification"], readers: ["AI", "AuditKeeping"]),
        "badges": Ownership(writers: ["Gamification"], readers: ["AuditKeeping"]),
        "incentive_rules": Ownership(writers: ["Incentives"], readers: ["AuditKeeping"]),
        "incentive_events": Ownership(writers: ["Incentives"], readers: ["AuditKeeping"]),
        "blocks": Ownership(writers: ["Safety"]),
        "abuse_reports": Ownership(writers: ["Safety"]),
        "connections": Ownership(writers: ["Connections"], readers: ["AuditKeeping"]),
        "devices": Ownership(writers: ["Devices"]),
        "attachments": Ownership(writers: ["Attachments"]),
        "nag_attachments": Ownership(writers: ["Attachments"]),
        "deliveries": Ownership(writers: ["Deliveries"], readers: ["Reports"]),
        "report_snapshots": Ownership(writers: ["Reports"]),
        "live_sockets": Ownership(writers: ["Realtime"]),
        "scheduler_plan": Ownership(writers: ["Jobs"]),
        // The ledger adds; what retention and erasure take, the audit log's tools take.
        "audit_entry": Ownership(writers: ["Ledger", "AuditKeeping"], readers: ["Audit", "Realtime"]),
        "audit_payload": Ownership(writers: ["Ledger", "AuditKeeping"], readers: ["Audit"]),
        "audit_leaf": Ownership(writers: ["AuditKeeping"], readers: ["Audit"]),
        "audit_node": Ownership(writers: ["AuditKeeping"]),
        "audit_checkpoint": Ownership(writers: ["AuditKeeping"], readers: ["Audit"]),
        "audit_key": Ownership(writers: ["AuditKeeping"]),
        "audit_findings": Ownership(writers: ["Audit"]),
        "audit_pass": Ownership(writers: ["AuditKeeping"]),
        "audit_prune": Ownership(writers: ["AuditKeeping"], readers: ["Audit"]),
        "audit_subject_key": Ownership(writers: ["AuditKeeping"], readers: ["Audit"]),
        // Sealed again by the rotation of the master key, in the owner's statements; counted by it in its own.
        "ai_keys": Ownership(writers: ["Keys"], readers: ["AuditKeeping"]),
        "admins": Ownership(writers: ["Admins"], readers: ["Access", "Audit", "Auth", "AuditKeeping"]),
    ]

    /// Tables of features that are not built yet.
    private static let planned: Set<String> = [
        "report_snapshots"
    ]

    @Test("every table of the migrations has an owner in the list of owners")
    func complete() {
        #expect(Set(SourceFile.tables) == Set(Self.tables.keys))
    }

    /// A statement's use of a table.
    private struct Use: Hashable {
        var table: String
        var file: String
        var place: String
        var isWriting: Bool
    }

    /// Every use of a table in the server's SQL, read once.
    private static let uses: Set<Use> = {
        let naming = /\b(INTO|UPDATE|DELETE FROM|TRUNCATE|FROM|JOIN|from: ") *(?:LATERAL +)?([a-z_]+)\b/
        return SourceFile.all.reduce(into: []) { uses, file in
            guard file.target == "Server", let place = place(of: file) else { return }
            for match in file.code.joined(separator: "\n").matches(of: naming) {
                let isWriting = !["FROM", "JOIN", "from: \""].contains(match.output.1)
                uses.insert(
                    Use(table: String(match.output.2), file: file.path, place: place, isWriting: isWriting))
            }
        }
    }()

    @Test(
        "a table is written by its owners, and read by them and the listed readers alone",
        arguments: Array(tables.keys).sorted())
    func named(table: String) throws {
        let ownership = try #require(Self.tables[table])
        let uses = Self.uses.filter { $0.table == table }
        for use in uses where use.isWriting {
            #expect(ownership.writers.contains(use.place), "\(use.file) writes \(table)")
        }
        for use in uses where !use.isWriting {
            #expect(ownership.writers.union(ownership.readers).contains(use.place), "\(use.file) reads \(table)")
        }
        #expect(uses.isEmpty == Self.planned.contains(table))
    }

    /// The feature or part of the server that a file belongs to; nil outside both.
    private static func place(of file: SourceFile) -> String? {
        let parts = file.path.split(separator: "/").map(String.init)
        guard parts.count > 2 else { return nil }
        return parts[1] == "Features" ? parts[2] : parts[1]
    }
}
