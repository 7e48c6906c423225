import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// Citus and partitions by family ask for it: rows are unique within a family, or anywhere by a random key.
@Suite("Tables distributed by family_id")
struct DistributionTests {
    /// The unique indexes of such tables that do not hold `family_id`, and why each may stay so.
    private static let reasons = [
        "one_active_family": "of a person, who is in one family: memberships stay beside users",
        "consents_pkey": "by a random id; a person's own consents are of no family",
        "one_personal_consent_in_force": "of a person's own consents",
        "abuse_reports_pkey": "by a random id; few rows",
        "audit_findings_pkey": "by a random id; few rows, some of no family",
        "open_audit_findings": "few rows, some of no family",
        "audit_leaf_pkey": "the place in the one Merkle log of all families",
        "nag_attachments_pkey": "by a random id",
        "ai_sessions_pkey": "by a digest of a random token",
        "ai_session_turns_pkey": "by a digest of a random token",
        "ai_confirmations_pkey": "by a digest of a random token",
    ]

    @Test("every unique index of a family's table holds family_id, or is listed with a reason")
    func uniqueIndexes() async throws {
        try await TestServer.run { server in
            let names = try await server.names(
                """
                SELECT i.relname::text AS name FROM pg_index x
                JOIN pg_class i ON i.oid = x.indexrelid
                JOIN pg_class c ON c.oid = x.indrelid AND c.relnamespace = 'public'::regnamespace
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'family_id' AND NOT a.attisdropped
                WHERE x.indisunique AND a.attnum <> ALL (x.indkey::int2[])
                """)
            #expect(names.filter { Self.reasons[$0] == nil } == [], "an index without family_id, and without a reason")
            #expect(Self.reasons.filter { !names.contains($0.key) } == [:], "an index that is gone or has family_id")
        }
    }

    /// The tables without `family_id`: of people, of several families, or of the server.
    private static let shared: Set = [
        "account_codes", "device_secrets", "phone_codes", "socket_tickets",
        "users", "sessions", "refresh_tokens", "devices", "admins", "known_addresses", "sign_in_attempts",
        "pin_attempts", "blocks", "daily_counts", "refusal_counts", "idempotency_keys", "ai_keys", "attachments",
        "families", "connections", "live_sockets", "scheduler_plan", "schema_migrations", "audit_checkpoint",
        "audit_key", "audit_node", "audit_pass", "audit_subject_key",
    ]

    @Test("every table without family_id is listed")
    func sharedTables() async throws {
        try await TestServer.run { server in
            let names = try await server.names(
                """
                SELECT c.relname::text AS name FROM pg_class c
                WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace AND NOT EXISTS (
                    SELECT FROM pg_attribute a
                    WHERE a.attrelid = c.oid AND a.attname = 'family_id' AND NOT a.attisdropped)
                """)
            #expect(Set(names) == Self.shared)
        }
    }
}

extension TestServer {
    fileprivate func names(_ statement: SQL) async throws -> [String] {
        try await database.run { database in
            try await database.query(statement).map { row throws(PostgresError) -> String in try row["name"] }
        }
    }
}
