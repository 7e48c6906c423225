import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Names of database constraints in features")
struct ConstraintNameTests {
    @Test("every constraint that a feature names is in the database")
    func known() async throws {
        try await TestServer.run { server in
            let names = try await server.database.run { database in
                try await database.query(
                    """
                    SELECT conname::text AS name FROM pg_constraint WHERE connamespace = 'public'::regnamespace
                    UNION SELECT relname::text FROM pg_class JOIN pg_index ON indexrelid = oid
                    WHERE indisunique AND relnamespace = 'public'::regnamespace
                    -- Triggers refuse under their own names.
                    UNION SELECT tgname::text FROM pg_trigger WHERE NOT tgisinternal
                    """
                ).map { row throws(PostgresError) -> String in try row["name"] }
            }
            for constraint in ConstraintName.allCases {
                let isKnown = names.contains(constraint.rawValue)
                #expect(isKnown, "\(constraint.rawValue)")
            }
        }
    }
}
